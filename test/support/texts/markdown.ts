/** Reads the project's documents for tests: pages, headings, links and blocks of code. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from './imports.ts';

export interface Page {
  /** Path from the root of the project. */
  readonly path: string;
  readonly text: string;
}

export interface CodeBlock {
  readonly page: string;
  /** Line of the block's first line of code, counted from 1. */
  readonly line: number;
  /** The word after the fence: `sh`, `json`, `ts`; empty if there is none. */
  readonly language: string;
  readonly code: string;
}

const TOP = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
const FOLDERS = ['docs', 'deploy', 'packages', 'sdk', 'test'];
const SKIPPED = /(?:^|\/)(?:node_modules|build|dist|data|__pycache__)(?:\/|$)/;

/** Returns the paths of the files below a folder of the project, without what is installed or built. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !SKIPPED.test(path))
    .sort();
}

/** Reads every Markdown page of the project. */
export function readPages(): Page[] {
  const below = FOLDERS.flatMap(filesBelow).filter((path) => path.endsWith('.md'));
  return [...TOP, ...below].map(readPage);
}

/** Reads one page by its path from the root of the project. */
export function readPage(path: string): Page {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

/** Returns the page with its fenced blocks of code emptied; line numbers stay. */
export function prose(text: string): string {
  return text.replace(/^( *)```[\s\S]*?^\1```$/gm, (block) => block.replace(/[^\n]/g, ''));
}

/** Returns the link targets that GitHub makes of a page's headings. */
export function anchors(text: string): Set<string> {
  const seen = new Map<string, number>();
  const found = new Set<string>();
  for (const [, title = ''] of prose(text).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const words = title.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    found.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return found;
}

/** Returns the targets of a page's links and pictures. Code is skipped. */
export function linkTargets(text: string): string[] {
  const plain = prose(text).replace(/`[^`\n]*`/g, '');
  const inline = [...plain.matchAll(/\]\(\s*<?([^()\s>]+(?:\([^()\s]*\)[^()\s]*)?)>?\s*\)/g)];
  const defined = [...plain.matchAll(/^\[[^\]]+\]:\s+(\S+)/gm)];
  return [...inline, ...defined].map(([, target = '']) => target);
}

/** Returns the fenced blocks of code of a page, in order. */
export function codeBlocks({ path, text }: Page): CodeBlock[] {
  return [...text.matchAll(/^( *)```(\w*)[^\n]*\n([\s\S]*?)^\1```$/gm)].map((match) => {
    const [, indent = '', language = '', code = ''] = match;
    const line = text.slice(0, match.index).split('\n').length + 1;
    return {
      page: path,
      line,
      language,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    };
  });
}
