/** docs/benchmarks.md lists every file of the benchmarks: how to run it, or what it is a part of. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from './support/texts/imports.ts';
import { readPage } from './support/texts/markdown.ts';

const page = readPage('docs/benchmarks.md').text;

function benchFiles(): string[] {
  const packages = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/bench`);
  return ['bench', ...packages]
    .filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`))
    .filter((path) => path.endsWith('.ts'));
}

/** Reports whether the head of the file gives its command. Parts of benchmarks have none. */
function hasCommand(path: string): boolean {
  const [head = ''] = readFileSync(join(ROOT, path), 'utf8').split('*/');
  return head.includes(`node ${path}`);
}

/** Returns the paths that the first cells of the tables give, with the command, or as a part. */
function listed(): { commands: string[]; parts: string[] } {
  const cells = [...page.matchAll(/^\| (`[^|]*)\|/gm)].map(([, cell = '']) => cell);
  const found = (pattern: RegExp): string[] =>
    cells.flatMap((cell) => [...cell.matchAll(pattern)].map(([, path = '']) => path)).sort();
  return { commands: found(/`npx node ([\w/.-]+\.ts)/g), parts: found(/`([\w/.-]+\.ts)`/g) };
}

describe('docs/benchmarks.md', () => {
  it('gives the command of every benchmark, and names every part', () => {
    const files = benchFiles().sort();
    assert.ok(files.length > 20);
    assert.deepEqual(listed(), {
      commands: files.filter(hasCommand),
      parts: files.filter((path) => !hasCommand(path)),
    });
  });
});
