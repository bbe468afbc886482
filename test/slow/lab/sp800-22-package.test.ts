/** The package sp800-22 as another project installs it, on Node 26 and 20 (6 s). test/sp800-22/ tests its source. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runPackedSuite, type SuiteReport, TEST_NAMES } from '#sp800-22';
import { PROJECT_VERSION } from '../../../src/process/version.ts';
import { aesStream } from '../../sp800-22/differential.ts';
import { findNode20 } from '../../support/programs/node-20.ts';
import { packWorkspace } from '../../support/programs/packed.ts';
import { codeBlocks, readPage } from '../../support/texts/markdown.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const PROJECT = mkdtempSync(join(tmpdir(), 'library-'));

const EXAMPLE =
  codeBlocks(readPage('packages/sp800-22/README.md')).find(({ language }) => language === 'js')
    ?.code ?? '';

function run(command: string, args: readonly string[], cwd = PROJECT): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const NODE_20 = findNode20();

/** A script that prints the package's results for one sequence. */
const SCRIPT = `
import { kernelBuild, runPackedSuite } from 'sp800-22';
import { readFileSync } from 'node:fs';
const report = runPackedSuite(readFileSync('sample.bin'));
console.log(JSON.stringify({ build: kernelBuild(), report }));
`;

function pValuesOf({ tests }: SuiteReport): number[] {
  return tests.flatMap((test) => (test.applicable ? test.pValues : []));
}

describe('the sp800-22 package', () => {
  before(async () => {
    await packWorkspace('packages/sp800-22', PROJECT);
    writeFileSync(join(PROJECT, 'package.json'), '{"private": true, "type": "module"}');
    run('npm', ['install', '--offline', '--silent', `./sp800-22-${PROJECT_VERSION}.tgz`]);
    writeFileSync(join(PROJECT, 'example.mjs'), EXAMPLE);
    writeFileSync(join(PROJECT, 'script.mjs'), SCRIPT);
    writeFileSync(join(PROJECT, 'sample.bin'), aesStream(20, 131_072));
  });
  after(() => rmSync(PROJECT, { recursive: true, force: true }));

  it('contains only code, types and kernels, and no dependencies', () => {
    const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8'));
    assert.deepEqual(Object.keys(lock.packages), ['', 'node_modules/sp800-22']);
    const files = run('find', ['node_modules/sp800-22', '-type', 'f']).trim().split('\n');
    const unexpected = files.filter(
      (file) => !/\.(js|d\.ts|wasm)$|LICENSE|README|package/.test(file),
    );
    assert.deepEqual(unexpected, []);
  });

  it('passes the type check of a strict project without the types of Node or browsers', () => {
    const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', ''];
    const source = `import { runPackedSuite, type SuiteReport } from 'sp800-22';
      export const report: SuiteReport = runPackedSuite(new Uint8Array(100), { only: ['runs'] });
      // @ts-expect-error: no such test.
      runPackedSuite(new Uint8Array(100), { only: ['luck'] });`;
    writeFileSync(join(PROJECT, 'types.ts'), source);
    run(join(ROOT, 'node_modules/.bin/tsc'), [...options, '--noEmit', 'types.ts']);
  });

  for (const [name, node] of [
    ['Node 26', process.execPath],
    ['Node 20', NODE_20],
  ] as const) {
    const skip = node === undefined && `there is no ${name} on this machine's PATH`;
    it(`runs the documented example on ${name}`, { skip }, () => {
      const output = run(node ?? '', ['example.mjs']);
      assert.match(output, /^frequency: smallest p = /);
      const [, all] =
        /\d+ of (\d+) tests passed, gate: PASS\n\d of 1\d\d rows failed\n$/.exec(output) ?? [];
      // Without enough cycles of the random walk, two tests do not apply.
      assert.ok([TEST_NAMES.length - 2, TEST_NAMES.length].includes(Number(all)), output);
    });

    it(`gives the same report as the service on ${name}`, { skip }, () => {
      const { build, report } = JSON.parse(run(node ?? '', ['script.mjs']));
      assert.match(build, /simd$/);
      // Another version of the engine may round e^x and a^b differently.
      const expected = pValuesOf(runPackedSuite(aesStream(20, 131_072)));
      const actual = pValuesOf(report);
      assert.equal(actual.length, expected.length);
      for (const [i, p] of actual.entries()) {
        assert.ok(Math.abs(p - expected[i]) < 1e-12, `p-value ${i}: ${p}, expected ${expected[i]}`);
      }
    });
  }
});
