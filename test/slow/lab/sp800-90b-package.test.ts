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
import { PROJECT_VERSION } from '../../../src/version.ts';
import { aesCtr } from '../../support/aes-stream.ts';
import { BROWSERS, runInBrowser } from '../../support/browser-page.ts';
import { codeBlocks, readPage } from '../../support/markdown.ts';
import { findNode20 } from '../../support/node-20.ts';
import { packWorkspace } from '../../support/packed.ts';
import { assertSameText } from '../../support/same-text.ts';

const PROJECT = mkdtempSync(join(tmpdir(), 'sp800-90b-'));
const SAMPLES = 100_000;

const EXAMPLE =
  codeBlocks(readPage('packages/sp800-90b/README.md')).find(({ language }) => language === 'js')
    ?.code ?? '';

const SCRIPT = `
import { readFileSync } from 'node:fs';
import { assessNonIid } from 'sp800-90b';
process.stdout.write(JSON.stringify(assessNonIid(readFileSync('sample.bin'))));
`;

const MODULE = `
const { assessNonIid } = await import('sp800-90b');
const sample = new Uint8Array(await (await fetch('/sample.bin')).arrayBuffer());
body = JSON.stringify(assessNonIid(sample));
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
    writeFileSync(join(PROJECT, 'script.mjs'), SCRIPT);
    writeFileSync(join(PROJECT, 'sample.bin'), aesCtr(Buffer.alloc(32, 90), SAMPLES));
  });
  after(() => rmSync(PROJECT, { recursive: true, force: true }));

  it('has no dependencies', () => {
    const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8'));
    assert.deepEqual(Object.keys(lock.packages), ['', 'node_modules/sp800-90b']);
  });

  it('runs the documented example', () => {
    // 6.638 if a predictor guesses three samples in a row by chance: about one run of five.
    const printed = run(process.execPath, ['example.mjs']);
    assert.match(printed, /^min-entropy estimate: (7\.\d{3}|6\.638) bits/);
  });

  const expected = JSON.stringify(assessNonIid(aesCtr(Buffer.alloc(32, 90), SAMPLES)));
  for (const [version, node] of [
    [26, process.execPath],
    [20, findNode20()],
  ] as const) {
    it(`gives the figures of the service on Node ${version}`, {
      skip: !node && 'there is none',
    }, () => {
      assertSameText(run(node ?? '', ['script.mjs']), expected, 'the result');
    });
  }

  for (const browser of BROWSERS) {
    const { name, path } = browser;
    it(`gives the figures of the service in ${name}`, {
      skip: !path && 'there is none',
    }, async () => {
      const imports = { 'sp800-90b': '/node_modules/sp800-90b/dist/sp800-90b/src/index.js' };
      assertSameText(await runInBrowser(browser, PROJECT, imports, MODULE), expected, 'the result');
    });
  }
});
