/** The command line: what `check` says of good and bad configurations, and the exit codes. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { runProgram } from '../../src/commands/program.ts';
import { lockDirectory } from '../../src/store/lock.ts';
import { LocalAgents, type Site } from '../support/local-agents.ts';

let agents: LocalAgents;
let site: Site;

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const written = { out: '', err: '' };
  const code = await runProgram(args, {
    name: 'phm-agent',
    version: '0.1.0',
    env: {},
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    boxesOf: () => agents.service.boxesFor(site.thumbprint),
  });
  return { code, ...written };
}

describe('phm-agent', () => {
  before(async () => {
    agents = await LocalAgents.create();
    agents.client('a1');
    site = (await agents.sites()).a;
    // It writes the certificates that the configuration names.
    await (await agents.start(site)).stop();
  });
  after(() => agents.stop());

  it('check names the thumbprint, who shares keys with whom, and where it listens', async () => {
    const { code, out, err } = await run('check', site.configFile);
    assert.deepEqual([code, err], [0, '']);
    assert.deepEqual(out.trimEnd().split('\n'), [
      'name: site-a',
      `thumbprint: ${site.thumbprint}`,
      'keys come from https://keys.example, with receipts of phm.invalid/0ae7346d8a7fbff7',
      'keys of a1 for b1',
      'keys of b1 for a1',
      'keys of a1 for b1, b2',
      'keys of a1 for a1',
      'etsi-014: listens on 127.0.0.1 port 0',
      'etsi-014: listens on 127.0.0.1 port 0',
      'skip: listens on 127.0.0.1 port 0',
      'skip: listens on 127.0.0.1 port 0',
    ]);
  });

  it('check and run name each fault on a line, and exit with 2', async () => {
    const file = `${site.configFile}.bad`;
    writeFileSync(file, JSON.stringify({ ...site.config, name: '', extra: 1 }));
    for (const command of ['check', 'run']) {
      const { code, out, err } = await run(command, file);
      assert.deepEqual([code, out], [2, '']);
      const lines = err.trimEnd().split('\n');
      assert.equal(lines.length, 2, err);
      assert.match(lines[0] ?? '', /^phm-agent: extra: there is no such member/);
    }
  });

  it('run ends with 1 if another agent has the state directory', async () => {
    const lock = await lockDirectory(site.config.state_dir as string);
    const { code, err } = await run('run', site.configFile);
    await lock.release();
    assert.equal(code, 1);
    assert.match(err, /^phm-agent: another agent uses .*: one agent for a recipient\n$/);
  });

  it('run serves until SIGTERM', async () => {
    const running = run('run', site.configFile);
    const timer = setInterval(() => process.emit('SIGTERM'), 200);
    const { code, err } = await running;
    clearInterval(timer);
    assert.equal(code, 0);
    const messages = err
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).message);
    assert.deepEqual(messages, ['listening', 'stopping']);
  });

  it('exits with 2 after wrong usage, and with 0 after help and version', async () => {
    assert.equal((await run('check')).code, 2);
    assert.equal((await run('nothing')).code, 2);
    assert.equal((await run('check', '~/agent.json')).code, 2);
    assert.equal((await run('--help')).code, 0);
    const { code, out } = await run('--version');
    assert.deepEqual([code, out], [0, '0.1.0\n']);
  });
});
