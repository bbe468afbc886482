/** What npm scripts say when packages or Node are missing (`scripts/require-install.mjs`). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';

const ROOT = resolve(import.meta.dirname, '..');
const SCRIPT = 'scripts/require-install.mjs';
const SCRIPTS: Record<string, string> = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
).scripts;

describe('a script of package.json', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'require-install-'));
    mkdirSync(join(folder, 'scripts'));
    cpSync(join(ROOT, SCRIPT), join(folder, SCRIPT));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function install(name: string): void {
    mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    writeFileSync(join(folder, 'node_modules', name, 'package.json'), '{}');
  }

  /** Runs the script as npm does before `event`, and returns its words; none if it passes. */
  function wordsBefore(event: string, version?: string): string {
    const words = SCRIPTS[event]?.match(/require-install\.mjs( development)?/);
    assert.ok(words, `${event} does not run ${SCRIPT}`);
    const old = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } }); Object.defineProperty(process, 'version', { value: 'v${version}' })`;
    const flags = version === undefined ? [] : [`--import=data:text/javascript,${old}`];
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...flags, join(folder, SCRIPT), ...(words[1] ? ['development'] : [])],
      { env: { npm_lifecycle_event: event }, encoding: 'utf8' },
    );
    assert.equal(stdout, '');
    assert.equal(status, stderr === '' ? 0 : 1);
    return stderr;
  }

  it('says that nothing is installed', () => {
    assert.equal(
      wordsBefore('prestart'),
      'the packages are not installed: run "npm ci", then "npm start"\n',
    );
    assert.equal(
      wordsBefore('pretest:one'),
      'the packages are not installed: run "npm ci", then "npm run test:one"\n',
    );
    assert.match(wordsBefore('pretest', '20.20.2'), /run "npm ci", then "npm test"\n$/);
  });

  it('says that development packages are missing, if it needs them', () => {
    install('fastify');
    assert.equal(wordsBefore('prestart'), '');
    assert.equal(wordsBefore('prephm'), '');
    assert.equal(
      wordsBefore('prebuild'),
      'the development packages are not installed: run "npm ci" without --omit=dev, then "npm run build"\n',
    );
  });

  it('says that Node is too old', () => {
    install('typescript');
    assert.equal(wordsBefore('prebuild'), '');
    assert.equal(
      wordsBefore('prestart', '20.20.2'),
      'node is v20.20.2, and Node 26 is needed: run "npm ci" without --omit=optional, which installs it, then "npm start"\n',
    );
    assert.match(wordsBefore('prebuild', '24.1.0'), /^node is v24\.1\.0, and Node 26 is needed/);
  });
});
