/**
 * The package sp800-90b as another project installs it: the README's example runs and agrees with the service.
 * 20 s.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assessNonIid } from '#sp800-90b';
import { PROJECT_VERSION } from '../../src/process/version.ts';
import { aesCtr } from '../support/lab/aes-stream.ts';
import { testFigures } from '../support/lab/package-figures.ts';
import { packWorkspace } from '../support/programs/packed.ts';
import { codeBlocks, readPage } from '../support/texts/markdown.ts';

const PROJECT = mkdtempSync(join(tmpdir(), 'sp800-90b-'));
const SAMPLES = 100_000;

const EXAMPLE =
  codeBlocks(readPage('packages/sp800-90b/README.md')).find(({ language }) => language === 'js')
    ?.code ?? '';

/** Loaded before the example: the figure of random bytes differs from run to run, and is below 7.0 now and then. */
const SAME_BYTES = `
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
crypto.randomBytes = (length) =>
  crypto.createCipheriv('aes-256-ctr', Buffer.alloc(32, 90), Buffer.alloc(16)).update(Buffer.alloc(length));
syncBuiltinESMExports();
`;

function run(command: string, args: readonly string[], cwd = PROJECT): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

describe('the sp800-90b package', () => {
  before(async () => {
    await packWorkspace('packages/sp800-90b', PROJECT);
    writeFileSync(join(PROJECT, 'package.json'), '{"private": true, "type": "module"}');
    run('npm', ['install', '--offline', '--silent', `./sp800-90b-${PROJECT_VERSION}.tgz`]);
    writeFileSync(join(PROJECT, 'example.mjs'), EXAMPLE);
    writeFileSync(join(PROJECT, 'same-bytes.mjs'), SAME_BYTES);
    writeFileSync(join(PROJECT, 'sample.bin'), aesCtr(Buffer.alloc(32, 90), SAMPLES));
  });
  after(() => rmSync(PROJECT, { recursive: true, force: true }));

  it('has no dependencies', () => {
    const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8'));
    assert.deepEqual(Object.keys(lock.packages), ['', 'node_modules/sp800-90b']);
  });

  it('runs the documented example', () => {
    const printed = run(process.execPath, ['--import', './same-bytes.mjs', 'example.mjs']);
    assert.equal(printed, 'min-entropy estimate: 7.086 bits per sample\n');
  });

  testFigures({
    project: PROJECT,
    name: 'sp800-90b',
    module: 'sp800-90b/src/index.js',
    program: (sample) => `
const { assessNonIid } = await import('sp800-90b');
body = JSON.stringify(assessNonIid(${sample}));
`,
    expected: JSON.stringify(assessNonIid(aesCtr(Buffer.alloc(32, 90), SAMPLES))),
  });
});
