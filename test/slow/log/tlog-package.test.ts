/** The package tlog as another project installs it: the README's example runs. 5 s. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PROJECT_VERSION } from '../../../src/process/version.ts';
import { findNode20 } from '../../support/programs/node-20.ts';
import { packWorkspace } from '../../support/programs/packed.ts';
import { codeBlocks, readPage } from '../../support/texts/markdown.ts';

const PROJECT = mkdtempSync(join(tmpdir(), 'tlog-'));

const EXAMPLE =
  codeBlocks(readPage('packages/tlog/README.md')).find(({ language }) => language === 'js')?.code ??
  '';

function run(command: string, args: readonly string[], cwd = PROJECT): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

describe('the tlog package', () => {
  before(async () => {
    await packWorkspace('packages/tlog', PROJECT);
    writeFileSync(join(PROJECT, 'package.json'), '{"private": true, "type": "module"}');
    run('npm', ['install', '--offline', '--silent', `./tlog-${PROJECT_VERSION}.tgz`]);
    writeFileSync(join(PROJECT, 'example.mjs'), EXAMPLE);
  });
  after(() => rmSync(PROJECT, { recursive: true, force: true }));

  it('has no dependencies, and imports only its own files', () => {
    const lock = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8'));
    assert.deepEqual(Object.keys(lock.packages), ['', 'node_modules/tlog']);
    const dist = join(PROJECT, 'node_modules/tlog/dist');
    const files = readdirSync(dist).filter((file) => file.endsWith('.js'));
    assert.ok(files.includes('index.js'));
    for (const file of files) {
      const text = readFileSync(join(dist, file), 'utf8');
      for (const [, from = ''] of text.matchAll(/ from '([^']+)'/g))
        assert.match(from, /^\.\//, file);
      // Browsers have neither.
      assert.doesNotMatch(text, /\bBuffer\b|\bprocess\./, file);
    }
  });

  it('runs the documented example, also on Node 20', () => {
    for (const node of [process.execPath, findNode20() ?? process.execPath]) {
      assert.equal(run(node, ['example.mjs']), 'true\n');
    }
  });
});
