/** Follows a guide of `docs/guides/` as a reader does: pastes its commands, saves its files, compares its output. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './imports.ts';
import { type CodeBlock, codeBlocks, type Page, readPage } from './markdown.ts';

/** What a guide finds in the folder of the project. */
const LINKED = [
  'bin',
  'build',
  'deploy',
  'node_modules',
  'package.json',
  'packages',
  'scripts',
  'sdk',
  'src',
];

/** Names and values that differ in each run, and what takes their place in both texts. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\bphm_\d+/g, 'phm_…'],
  [/\bacct_[0-9a-f]{8,}/g, 'acct_…'],
  [/\bkey_[0-9a-f]{8,}/g, 'key_…'],
  [/\bphmsk_live_\w+/g, 'phmsk_live_…'],
  [/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g, 'TIME'],
  [/\b[0-9a-f]{16,}\b/g, 'HEX'],
];

/** Reads `docs/guides/<name>.md`. */
export function readGuide(name: string): Page {
  return readPage(`docs/guides/${name}.md`);
}

/** The part of a page below one of its second-level headings. */
export function section({ path, text }: Page, heading: string): Page {
  const found = text.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`));
  assert.ok(found, `${path} has no heading "${heading}"`);
  return { path: `${path}, ${heading}`, text: found };
}

interface GuideOptions {
  /** Environment of the reader's shell, beside the `PATH` of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the reader's machine has in place of an address or a path of the guide. */
  readonly replace?: readonly (readonly [string, string])[];
}

/** A reader with a shell in a folder that looks like the project's. */
export class Reader {
  readonly folder: string;
  readonly #state: string;
  readonly #env: Record<string, string>;
  #replace: readonly (readonly [string, string])[];

  /** Links the project into the folder `project` below `parent`. */
  constructor(parent: string, { env = {}, replace = [] }: GuideOptions = {}) {
    this.folder = join(parent, 'project');
    this.#state = join(parent, 'shell-state');
    mkdirSync(this.folder);
    for (const name of LINKED) symlinkSync(join(ROOT, name), join(this.folder, name));
    this.#env = { PATH: process.env.PATH ?? '', HOME: parent, LC_ALL: 'C.UTF-8', ...env };
    this.#replace = replace;
  }

  /** Adds replacements that are known only now, such as the address of a server. */
  learn(...replace: readonly (readonly [string, string])[]): void {
    this.#replace = [...replace, ...this.#replace];
  }

  /**
   * Follows a page from its first block to its last and returns how many blocks of commands it ran. `done` is called
   * after each of them with its text and its output, for what the guide tells the reader to do by hand; `other` gets
   * the blocks of other languages.
   */
  async follow(
    page: Page,
    {
      done = async () => {},
      other = async () => {},
    }: {
      done?: (code: string, output: string) => Promise<void>;
      other?: (block: CodeBlock) => Promise<void>;
    } = {},
  ): Promise<number> {
    let runs = 0;
    let output = '';
    for (const block of codeBlocks(page)) {
      const where = `${page.path}:${block.line}`;
      const name = fileName(page, block);
      if (block.language === 'sh') {
        runs += 1;
        output = await this.run(block.code, where);
        await done(block.code, output);
      } else if (block.language === 'text') {
        assert.match(
          `${mask(output).trimEnd()}\n`,
          pattern(this.#replaced(block.code)),
          `${where}: other output\n${output}`,
        );
      } else if (name !== undefined) {
        writeFileSync(join(this.folder, name), this.#replaced(block.code));
      } else {
        await other(block);
      }
    }
    return runs;
  }

  /** Runs shell text in the state that the last one left and returns both outputs, as a terminal shows them. */
  async run(code: string, where = 'a command'): Promise<string> {
    const state = existsSync(this.#state) ? `. '${this.#state}'\n` : '';
    const save = `{ export -p; printf 'cd %s\\n' "'$PWD'"; umask; } | sed 's/^[0-7]*$/umask &/' > '${this.#state}'`;
    const script = `exec 2>&1\n${state}set -e\n${this.#replaced(code)}\n${save}\n`;
    const child = spawn('sh', ['-c', script], {
      cwd: this.folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const [status] = await once(child, 'close');
    assert.equal(status, 0, `${where} exited with ${status}:\n${code}\n${output}`);
    return output;
  }

  #replaced(text: string): string {
    return this.#replace.reduce((result, [from, to]) => result.replaceAll(from, to), text);
  }
}

/** The name in "Save this as `name`:", if the paragraph above the block ends with it. */
function fileName({ text }: Page, { line }: CodeBlock): string | undefined {
  const above = text
    .split('\n')
    .slice(0, line - 2)
    .join('\n');
  return /[Ss]ave\s+this\s+as\s+`([^`]+)`:\s*$/.exec(above)?.[1];
}

function mask(text: string): string {
  return VARYING.reduce((result, [from, to]) => result.replaceAll(from, to), text);
}

/**
 * The expected output as a pattern: `…` is any text within a line, and a line of `…` alone is any number of lines.
 * Without such a line at its end, the output ends there.
 */
function pattern(expected: string): RegExp {
  const lines = mask(expected).trimEnd().split('\n');
  const parts = lines.map((line) =>
    line.trim() === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(RegExp.escape).join('.*?')} *\\n`,
  );
  return new RegExp(`^${parts.join('')}${lines.at(-1)?.trim() === '…' ? '' : '$'}`);
}
