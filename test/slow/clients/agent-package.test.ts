/** The package phm-agent as another machine installs it: one tarball, without a registry, on Node 20 too. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { LocalAgents } from '../../../packages/agent/test/support/local-agents.ts';
import { findNode20 } from '../../support/programs/node-20.ts';
import { packWorkspace } from '../../support/programs/packed.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const PROJECT = mkdtempSync(join(tmpdir(), 'agent-package-'));
const INSTALLED = join(PROJECT, 'node_modules/phm-agent');
const node20 = findNode20();

describe('the package phm-agent', () => {
  let agents: LocalAgents;

  before(async () => {
    await packWorkspace('packages/agent', PROJECT);
    writeFileSync(join(PROJECT, 'package.json'), '{"private":true}');
    const [tarball = ''] = readdirSync(PROJECT).filter((name) => name.endsWith('.tgz'));
    // No registry: everything is in the tarball.
    const install = ['install', '--offline', '--no-audit', '--no-fund', '--silent', `./${tarball}`];
    execFileSync('npm', install, { cwd: PROJECT });
    agents = await LocalAgents.create();
  });
  after(async () => {
    await agents?.stop();
    rmSync(PROJECT, { recursive: true, force: true });
  });

  it('holds its program, its pages, the licences of what is in it, a unit and an example, and no sources', () => {
    const files = readdirSync(INSTALLED, { recursive: true, encoding: 'utf8' }).sort();
    const allowed =
      /^(?:LICENSE|README\.md|PSK\.md|package\.json|agent\.example\.json|phm-agent\.service|dist|dist\/(?:LICENSES\.txt|[\w.-]+\.js))$/;
    assert.deepEqual(
      files.filter((file) => !allowed.test(file)),
      [],
    );
    assert.deepEqual(
      readdirSync(join(PROJECT, 'node_modules')).filter((name) => !name.startsWith('.')),
      ['phm-agent'],
    );
    const licences = readFileSync(join(INSTALLED, 'dist/LICENSES.txt'), 'utf8');
    for (const name of [
      'commander',
      'hpke',
      '@noble/post-quantum',
      '@noble/hashes',
      '@noble/curves',
    ]) {
      assert.match(licences, new RegExp(`^${name} \\d`, 'm'));
    }
    const code = files
      .filter((file) => file.endsWith('.js'))
      .map((file) => readFileSync(join(INSTALLED, file), 'utf8'));
    // It loads nothing of a server, and names no folder of this machine.
    for (const name of ['fastify', 'node:sqlite', ROOT]) {
      assert.ok(
        !code.some((text) => text.includes(`'${name}'`) || text.includes(`"${name}`)),
        name,
      );
    }
  });

  for (const [name, node, skip] of [
    ['Node 20', node20 ?? '', node20 === undefined && 'there is no Node 20 on PATH'],
    ["this project's Node", process.execPath, false],
  ] as const) {
    it(`checks a configuration on ${name}, and knows the example`, { skip }, async () => {
      agents.client('a1');
      const { a } = await agents.sites();
      await (await agents.start(a)).stop();
      const program = join(INSTALLED, 'dist/phm-agent.js');
      const run = (...args: string[]) => spawnSync(node, [program, ...args], { encoding: 'utf8' });
      const checked = run('check', a.configFile);
      assert.deepEqual([checked.status, checked.stderr], [0, '']);
      assert.match(
        checked.stdout,
        new RegExp(`^thumbprint: ${a.thumbprint.replaceAll('+', '\\+')}$`, 'm'),
      );
      const example = run('check', join(INSTALLED, 'agent.example.json'));
      assert.equal(example.status, 2);
      // Only the files that it names are missing.
      for (const line of example.stderr.trimEnd().split('\n')) {
        assert.match(line, /: (?:there is no such (?:file|directory)|expected one of the logs.*)$/);
      }
      const { version } = JSON.parse(readFileSync(join(INSTALLED, 'package.json'), 'utf8'));
      assert.equal(run('--version').stdout, `${version}\n`);
    });
  }

  it('is what the unit for systemd starts', () => {
    const unit = readFileSync(join(INSTALLED, 'phm-agent.service'), 'utf8');
    assert.match(unit, /^ExecStart=.* phm-agent run \/etc\/phm-agent\/agent\.json$/m);
    assert.ok(existsSync(join(PROJECT, 'node_modules/.bin/phm-agent')));
    const verified = spawnSync(
      'systemd-analyze',
      ['verify', join(INSTALLED, 'phm-agent.service')],
      { encoding: 'utf8' },
    );
    if (verified.error === undefined)
      assert.doesNotMatch(verified.stderr, /Unknown|Failed to parse/);
  });
});
