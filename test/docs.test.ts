/** The paths and names of the source that the documents give. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from './support/texts/imports.ts';

/** Paths start at the root or, in documents about the server, at `src/`. */
const BASES = [ROOT, join(ROOT, 'src')];

/** Folders with the names that the documents use. */
const SOURCES = ['src', 'packages', 'sdk', 'dashboard', 'scripts'];

/** Returns the texts in backticks, without blocks of code. */
function codeIn(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '');
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

function isPath(code: string): boolean {
  return (
    /^[\w<][\w.<>-]*(\/[\w.<>-]*)*$/.test(code) && /\/|\.(?:ts|tsx|md|sql|py|json|mjs)$/.test(code)
  );
}

/** Reports whether the file or folder exists; for a pattern such as `tests/<name>.ts`, the folder. */
function exists(path: string): boolean {
  const fixed = path.replace(/[^/]*<.*$/, '');
  return BASES.some((base) => existsSync(join(base, fixed)));
}

function missingPaths(text: string): string[] {
  // Every folder may have a file of this name. What runs leave in build/ is not there before them.
  return codeIn(text).filter(
    (code) => isPath(code) && code !== 'index.ts' && !code.startsWith('build/') && !exists(code),
  );
}

/** Returns every word of the sources in these folders. */
function readWords(folders: readonly string[]): Set<string> {
  const files = folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:tsx?|py|json)$/.test(file) && !file.includes('node_modules'))
      .map((file) => join(ROOT, folder, file)),
  );
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  return new Set(texts.flatMap((text) => text.match(/\w+/g) ?? []));
}

/** Returns names such as `KeyQueue.submit` with a part that the sources lack. */
function unknownNames(text: string, words: ReadonlySet<string>): string[] {
  return codeIn(text)
    .filter((code) => /^#?[A-Za-z_]\w*(\.#?\w+)*$/.test(code) && !isPath(code))
    .filter((code) => !code.split('.').every((part) => words.has(part.replace('#', ''))));
}

describe('the documents', () => {
  for (const name of ['README.md', 'CONTRIBUTING.md', 'docs/architecture.md']) {
    it(`${name} gives paths that exist`, () => {
      assert.deepEqual(missingPaths(readFileSync(join(ROOT, name), 'utf8')), []);
    });
  }

  it('begin with a README of 600 words, of which 450 come before how it works', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const [before = '', rest] = readme.split('\n## How it works\n');
    const words = (text = '') => text.match(/\S+/g)?.length ?? 0;
    assert.ok(rest !== undefined && words(before) <= 450, `${words(before)} words before`);
    assert.ok(words(readme) <= 600, `${words(readme)} words`);
  });

  for (const [name, folders] of [
    ['CONTRIBUTING.md', [...SOURCES, 'test']],
    ['docs/architecture.md', SOURCES],
  ] as const) {
    it(`${name} uses names that the source has`, () => {
      const text = readFileSync(join(ROOT, name), 'utf8');
      assert.deepEqual(unknownNames(text, readWords(folders)), []);
    });
  }

  it('are found out when a path or a name is wrong', () => {
    assert.deepEqual(
      missingPaths('`src/main.ts`, `keys/`, `src/gone.ts`, `gone/<name>.ts`, `tests.ts`'),
      ['src/gone.ts', 'gone/<name>.ts', 'tests.ts'],
    );
    const words = new Set(['KeyQueue', 'flush']);
    assert.deepEqual(unknownNames('`KeyQueue.#flush`, `KeyQueue.gone`', words), ['KeyQueue.gone']);
  });
});
