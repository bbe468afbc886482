/** The steps of the README as a new user follows them: a server in one terminal, commands in another. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { DEMO_KEY, type Environment, makeDataDir, removeDataDir } from '../../support/server.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** Returns the commands under "Run it" without comments, up to the one that validates. */
function readSteps(): string[] {
  const [, block = ''] = /## Run it\n\n```sh\n([\s\S]*?)```/.exec(README) ?? [];
  const lines = block.split('\n').map((line) => line.replace(/ +#.*$/, ''));
  return lines.slice(0, lines.findIndex((line) => line.includes('-- validate')) + 1);
}

describe('the README', () => {
  const folder = join(makeDataDir(), 'a folder');
  mkdirSync(folder);
  for (const name of ['build', 'node_modules', 'package.json', 'scripts', 'sdk', 'src']) {
    symlinkSync(join(ROOT, name), join(folder, name));
  }
  let server: ChildProcess;
  let env: Environment;

  before(async () => {
    // Only the port differs from the README, because another program may use the default one.
    const port = String(await freePort());
    const base = { PATH: process.env.PATH ?? '', HOME: folder, PHM_PORT: port };
    env = { ...base, PHM_URL: `http://127.0.0.1:${port}` };
    assert.match(README, /^npm ci && npm start$/m);
    server = spawn('npm', ['start'], {
      cwd: folder,
      env: base,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    let log = '';
    await new Promise<void>((ready, failed) => {
      server.stderr?.on('data', (chunk) => {
        log += chunk;
        if (log.includes('"msg":"listening"')) ready();
      });
      server.once('exit', () => failed(new Error(`the server did not start:\n${log}`)));
    });
    assert.ok(log.includes(`"data":"${folder}/data"`), log);
  });
  after(async () => {
    const ended = once(server, 'close');
    process.kill(-(server.pid ?? 0), 'SIGINT');
    await ended;
    removeDataDir(dirname(folder));
  });

  /** Runs a step in the second terminal, which shows both outputs. */
  function run(step: string): string {
    const { status, stdout } = spawnSync('sh', ['-c', `exec 2>&1\n${step}`], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    assert.equal(status, 0, `${step}\n${stdout}`);
    return stdout;
  }

  it('leads from an account to a key whose receipt verifies and that the running server confirms', () => {
    const [create = '', issue = '', use = '', ...others] = readSteps();
    const created = run(create);
    const [account = ''] = /^acct_\w+$/m.exec(created) ?? [];
    const next = issue.replace('<account_id>', account);
    assert.ok(created.endsWith(`Next:\n  ${next}\n`.replace(/ +$/, '')), created);
    const issued = run(next);
    const [key = ''] = /^phmsk_live_\w+$/m.exec(issued) ?? [];
    assert.notEqual(key, DEMO_KEY);
    assert.equal(use, 'export PHM_API_KEY=<api_key>');
    const line = use.replace('<api_key>', key);
    assert.ok(issued.endsWith(`  ${line}\n`), issued);
    const shown = run([line, ...others].join('\n'));
    assert.match(shown, /^Wrote a 256-bit key, phm_\d+, to data\.key\nWrote the receipt /);
    assert.equal(shown.match(/^valid$/gm)?.length, 2, shown);
    assert.match(run(`${line}\nnpm run -s phm -- metrics`), /metered requests +2\n/);
  });
});
