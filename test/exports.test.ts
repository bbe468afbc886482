/** A file exports only what another file imports: a reader of an export can rely on a caller elsewhere. */
import assert from 'node:assert/strict';
import { relative } from 'node:path';
import { describe, it } from 'node:test';
import { exportedNames, unusedExports } from './support/texts/exports.ts';
import { ROOT, readSources } from './support/texts/imports.ts';

const FOLDERS = ['bench', 'dashboard', 'deploy', 'packages', 'scripts', 'sdk', 'src', 'test'];

/** Files whose exports others than these files use. */
const INTERFACES = [
  // The entries of packages.
  'packages/ais-20-31/src/index.ts',
  'packages/sealing/src/index.ts',
  'packages/sp800-90b/src/index.ts',
  'packages/tlog/src/index.ts',
  'sdk/src/index.ts',
  // The functions and addresses of the WebAssembly modules.
  'packages/sp800-22/kernels/index.ts',
  'src/modulation/kernel/modulation.ts',
  // Vite reads it.
  'dashboard/vite.config.ts',
  // Node's test runner calls them.
  'test/support/run/global-setup.ts',
  // Made from the OpenAPI document.
  'sdk/src/schema.ts',
  // They hold the text of files that they write, with its exports.
  'packages/lab/scripts/build-page.ts',
  'scripts/kernel-digests.ts',
  'packages/lab/studies/second-level/table.ts',
];

function readAll(): Map<string, string> {
  const sources = FOLDERS.flatMap((folder) => [...readSources(folder)]);
  return new Map(sources.filter(([path]) => !/\/dist\/|\.d\.ts$/.test(path)));
}

describe('exports', () => {
  // A few test files hold the text of files that they write. Biome refuses an export of their own.
  const unused = unusedExports(readAll())
    .map((one) => relative(ROOT, one))
    .filter((one) => !/\.test\.ts: /.test(one));
  const fileOf = (one: string): string => one.replace(/: .*/, '');

  it('are all imported by another file', () => {
    assert.deepEqual(
      unused.filter((one) => !INTERFACES.includes(fileOf(one))),
      [],
    );
  });

  it('that others use are only those of interfaces', () => {
    const files = new Set(unused.map(fileOf));
    assert.deepEqual(
      INTERFACES.filter((file) => !files.has(file)),
      [],
    );
  });

  it('are read from each kind of statement', () => {
    const text = [
      'export const A = 1;',
      'export const { B, b: C } = made();',
      'export const [D, E] = pair();',
      'export async function f() {}',
      'export function* g() {}',
      'export abstract class H {}',
      'export interface I {}',
      'export type J<T> = T;',
      "export { K, type L, m as M } from './other.ts';",
      "export type { N } from './other.ts';",
      'export default {};',
      'const notExported = 1;',
    ].join('\n');
    assert.equal(exportedNames(text).join(' '), 'A B C D E f g H I J K L M N default');
  });

  it('count as used by each kind of import, but not by their own file', () => {
    const unusedBy = (...importing: string[]): string =>
      unusedExports(
        new Map([
          ['/a.ts', 'export const A = 1;\nexport type B = 1;\nexport default A;'],
          ['/b.ts', importing.join('\n')],
        ]),
      )
        .map((one) => one.replace('/a.ts: ', ''))
        .join(' ');
    assert.equal(unusedBy(), 'A B default');
    assert.equal(unusedBy("import { A } from './other.ts';"), 'A B default');
    assert.equal(unusedBy("import { A } from './a.ts';"), 'B default');
    assert.equal(unusedBy("import {\n  A as Own,\n  type B,\n} from './a.ts';"), 'default');
    assert.equal(unusedBy("import type { B } from './a.ts';"), 'A default');
    assert.equal(unusedBy("import anything from './a.ts';"), 'A B');
    assert.equal(unusedBy("import anything, { A } from './a.ts';"), 'B');
    assert.equal(unusedBy("import * as all from './a.ts';", 'all.A;'), 'B default');
    assert.equal(unusedBy("const { A } = await import('./a.ts');"), 'B default');
    assert.equal(unusedBy("type Kind = import('./a.ts').B;"), 'A default');
    assert.equal(unusedBy("const { A } = require('./a.ts');"), 'B default');
    assert.equal(unusedBy("export * from './a.ts';"), '');
    // Nobody imports what /b.ts passes on.
    assert.equal(unusedBy("export { A } from './a.ts';"), 'B default /b.ts: A');
    assert.deepEqual(
      unusedExports(new Map([['/a.ts', "export const A = 1;\nimport('./a.ts').A;"]])),
      ['/a.ts: A'],
    );
  });
});
