/** AIS 20/31: the widths and trials that `npm test` leaves out, and the package as another project installs it. 10 s. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { procedureA, procedureB, suiteIrn } from '#ais-20-31';
import { PROJECT_VERSION } from '../../src/process/version.ts';
import {
  aesStream,
  assertProcedureA,
  assertTrial,
  REFERENCE,
  TOOL_TRIALS,
} from '../ais-20-31/reference.ts';
import { testFigures } from '../support/lab/package-figures.ts';
import { packWorkspace } from '../support/programs/packed.ts';
import { codeBlocks, readPage } from '../support/texts/markdown.ts';

/** Loaded before the example: T_irn fails random bytes now and then. */
const SAME_BYTES = `
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
crypto.randomBytes = (length) =>
  crypto.createCipheriv('aes-256-ctr', Buffer.alloc(32, 20), Buffer.alloc(16)).update(Buffer.alloc(length));
syncBuiltinESMExports();
`;

describe('procedure A', () => {
  for (const width of [1, 13] as const) {
    it(`gives the figures of the BSI's program for numbers of ${width} bits`, () => {
      assertProcedureA(procedureA(aesStream(), { width }), REFERENCE.aes.a[width]);
    });
  }
});

describe('T_irn', () => {
  for (const trial of TOOL_TRIALS) {
    it(`gives the figures of AnotherAIS31TestTool for the ${trial.stream} stream from bit ${trial.offset_bits} on`, () =>
      assertTrial(trial));
  }
});

describe('the ais-20-31 package', () => {
  const project = mkdtempSync(join(tmpdir(), 'ais-20-31-'));
  after(() => rmSync(project, { recursive: true, force: true }));
  const run = (command: string, args: readonly string[], cwd = project): string =>
    execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  before(async () => {
    await packWorkspace('packages/ais-20-31', project);
    writeFileSync(join(project, 'package.json'), '{"private": true, "type": "module"}');
    run('npm', ['install', '--offline', '--silent', `./ais-20-31-${PROJECT_VERSION}.tgz`]);
    writeFileSync(join(project, 'sample.bin'), aesStream());
  });

  it('runs the documented example', () => {
    const blocks = codeBlocks(readPage('packages/ais-20-31/README.md'));
    const example = blocks.find(({ language }) => language === 'js')?.code ?? '';
    writeFileSync(join(project, 'example.mjs'), example);
    writeFileSync(join(project, 'same-bytes.mjs'), SAME_BYTES);
    assert.equal(
      run(process.execPath, ['--import', './same-bytes.mjs', 'example.mjs']),
      'T_irn: passed\nprocedure A: passed\nprocedure B: passed\n',
    );
  });

  testFigures({
    project,
    name: 'ais-20-31',
    module: 'ais-20-31/src/index.js',
    program: (sample) => `
const { procedureA, procedureB, suiteIrn } = await import('ais-20-31');
const sample = ${sample};
body = JSON.stringify([suiteIrn(sample), procedureA(sample), procedureB(sample)]);
`,
    expected: JSON.stringify([
      suiteIrn(aesStream()),
      procedureA(aesStream()),
      procedureB(aesStream()),
    ]),
  });
});
