/** The README and the guide to the first API key as a new user follows them: a server in one terminal, commands in another. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../../support/run/free-port.ts';
import { DEMO_KEY, makeDataDir, removeDataDir } from '../../support/servers/server.ts';
import { Reader, readGuide, section } from '../../support/texts/guides.ts';
import { codeBlocks, readPage } from '../../support/texts/markdown.ts';

const README = readPage('README.md');

describe('the README', () => {
  const parent = makeDataDir();
  let reader: Reader;
  let server: ChildProcess;

  before(async () => {
    // Only the port differs from the README, because another program may use the default one.
    const port = String(await freePort());
    const address = `http://127.0.0.1:${port}`;
    reader = new Reader(parent, {
      env: { PHM_URL: address },
      replace: [['http://127.0.0.1:8080', address]],
    });
    server = await start(reader.folder, port);
  });
  after(async () => {
    const ended = once(server, 'close');
    process.kill(-(server.pid ?? 0), 'SIGINT');
    await ended;
    removeDataDir(parent);
  });

  it('leads to a key by its curl command', async () => {
    const blocks = codeBlocks(section(README, 'A key in a minute'));
    const [install, curl, answer] = blocks.map(({ code }) => code);
    assert.match(install ?? '', /^npm ci && npm start\b/m);
    const body = JSON.parse(await reader.run(curl ?? ''));
    const shown = [...(answer ?? '').matchAll(/^ {2}"(\w+)":/gm)].map(([, name]) => name);
    assert.deepEqual(Object.keys(body).slice(0, 3), shown);
    assert.equal(body.key.length, 64);
  });

  it('leads to a key that is sealed to its recipient', async () => {
    const page = section(README, 'A key sealed to its recipient');
    let output = '';
    const done = async (_: string, text: string) => {
      output += text;
    };
    assert.equal(await reader.follow(page, { done }), 1);
    assert.match(
      output,
      /^Opened the 256-bit key phm_\d+, to invoice\.key\. Checked: .* the log /m,
    );
    const sealed = readFileSync(join(reader.folder, 'invoice.sealed'), 'utf8');
    const key = readFileSync(join(reader.folder, 'invoice.key'), 'utf8').trim();
    assert.equal(key.length, 64);
    assert.doesNotMatch(sealed, new RegExp(key));
  });

  it('leads on to an API key of one’s own, which ends the demo keys', async () => {
    const learned: Readonly<Record<string, RegExp>> = {
      '<account_id>': /^acct_\w+$/m,
      '<api_key>': /\bphmsk_live_\w+/,
    };
    const runs = await reader.follow(readGuide('first-api-key'), {
      done: async (_, output) => {
        for (const [placeholder, pattern] of Object.entries(learned)) {
          const [value] = pattern.exec(output) ?? [];
          if (value !== undefined) reader.learn([placeholder, value]);
        }
      },
    });
    assert.equal(runs, 6);
    assert.match(await reader.run('npm run -s phm -- metrics'), /metered requests +2\n/);
    const refused = await reader.run(`PHM_API_KEY=${DEMO_KEY} npm run -s phm -- metrics || true`);
    assert.match(refused, /demo keys have ended|invalid_api_key/i);
  });
});

/** Starts the server as the README says, in a folder of the project. */
async function start(folder: string, port: string): Promise<ChildProcess> {
  const server = spawn('npm', ['start'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, PHM_PORT: port },
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
  return server;
}
