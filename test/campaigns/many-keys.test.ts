/**
 * `phm generate --count --output-dir` in real processes: killed again and again, with a full disk, and beside a second
 * process. In the end the directory has each key once, and the account was charged for these keys and the lost ones only.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sized } from '../support/run/campaign.ts';
import { until } from '../support/run/until.ts';
import { MAIN, makeDataDir, removeDataDir, runPhm, Server } from '../support/servers/server.ts';

const folder = makeDataDir();
const dataDir = join(folder, 'data');
let server: Server;
let apiKey: string;
before(async () => {
  mkdirSync(dataDir);
  server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
  const account = ['account', 'create', '--name', 'Ada', '--plan', 'enterprise'];
  const accountId = (await runPhm(account, dataDir)).stdout.trim();
  apiKey = (await runPhm(['api-key', 'issue', '--account', accountId], dataDir)).stdout.trim();
  await runPhm(['recipient', 'new', '--output', join(folder, 'ada')], dataDir);
  await until('the server knows the API key', async () => {
    return (await server.metrics('', apiKey)).status === 200;
  });
});
after(async () => {
  await server?.stop();
  removeDataDir(folder);
});

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, PHM_URL: server.address, PHM_API_KEY: apiKey },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function result(child: ChildProcess): Promise<{ code: number | null; stderr: string }> {
  const [stderr] = await Promise.all([
    text(child.stderr as NodeJS.ReadableStream),
    once(child, 'exit'),
  ]);
  return { code: child.exitCode, stderr };
}

const metered = async (): Promise<number> =>
  (await server.metrics('', apiKey)).body.metrics.usage.total_usage;

interface State {
  readonly made: number;
  readonly lost_key_ids: readonly string[];
  readonly possibly_lost: number;
  readonly completed_at: string | null;
}

const stateOf = (directory: string): State =>
  JSON.parse(readFileSync(join(directory, 'batch.json'), 'utf8'));

/** Waits until the process has written the state file, or has ended. */
async function moved(directory: string, child: ChildProcess): Promise<void> {
  const path = join(directory, 'batch.json');
  const time = () => statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  const before = time();
  while (child.exitCode === null && time() === before) await sleep(5);
}

const keysIn = (directory: string): string[] =>
  readdirSync(directory).filter((name) => /^phm_\d+\.(?:key|sealed)$/.test(name));

const COUNT = 2_000;

/** Most kills of a run. Each loses up to a call of plain keys, and takes a start of Node. */
const KILLS = sized({ sample: 4, full: 15 });

describe('a command that generates many keys', () => {
  for (const [kind, options] of [
    ['plain', []],
    ['sealed', ['--seal-to', join(folder, 'ada.recipient')]],
  ] as const) {
    it(`resumes after kill -9 at any time: ${kind}`, async (t) => {
      const directory = join(folder, kind);
      const before = await metered();
      const args = ['generate', '--count', String(COUNT), '--output-dir', directory, ...options];
      let kills = 0;
      for (;;) {
        const child = start(args);
        const ended = result(child);
        await moved(directory, child);
        // A call and its files take some 100 ms: the kill hits any step of them.
        await (kills === KILLS ? ended : Promise.race([ended, sleep(Math.random() * 200)]));
        if (child.exitCode !== null) {
          assert.equal(child.exitCode, 0, (await ended).stderr);
          break;
        }
        child.kill('SIGKILL');
        await ended;
        kills++;
      }
      const files = keysIn(directory);
      const { made, lost_key_ids: lost, possibly_lost: unknown, completed_at } = stateOf(directory);
      assert.deepEqual([files.length, made, unknown], [COUNT, COUNT, 0]);
      assert.ok(completed_at);
      assert.equal((await metered()) - before, COUNT + lost.length);
      if (kind === 'sealed') assert.equal(lost.length, 0);
      const contents = files.map((name) => readFileSync(join(directory, name), 'utf8'));
      assert.equal(new Set(contents).size, COUNT);
      if (kind === 'plain')
        for (const content of contents) assert.match(content, /^[0-9a-f]{64}\n$/);
      assert.deepEqual(
        readdirSync(directory).filter((name) => !files.includes(name)),
        ['batch.json', 'batch.keys'],
      );
      t.diagnostic(`${kills} kills, ${lost.length} lost keys`);
      assert.ok(kills > 2, `${kills} kills`);
      const again = await result(start(args));
      assert.match(again.stderr, /got all 2000 keys of this command by .*: nothing was generated/);
      assert.equal((await metered()) - before, COUNT + lost.length);
    });
  }

  it('ends after the call in progress on Ctrl-C, and loses nothing', async () => {
    const directory = join(folder, 'interrupted');
    const before = await metered();
    const args = ['generate', '--count', '100000', '--output-dir', directory];
    const child = start(args);
    const ended = result(child);
    await moved(directory, child);
    await sleep(700);
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    assert.equal(code, 1);
    assert.match(stderr, /Stopping after the call in progress/);
    assert.match(stderr, /phm: interrupted\n.* has \d+ of 100000 keys\. To continue, run /);
    const { made } = stateOf(directory);
    assert.deepEqual([keysIn(directory).length, (await metered()) - before], [made, made]);
    rmSync(directory, { recursive: true });
  });

  it('refuses a directory that another process fills', async () => {
    const directory = join(folder, 'shared');
    const args = ['generate', '--count', '100000', '--output-dir', directory];
    const first = start(args);
    const ended = result(first);
    while (first.exitCode === null && !existsSync(join(directory, 'batch.lock'))) await sleep(20);
    const second = await result(start(args));
    assert.equal(second.code, 1);
    assert.match(second.stderr, new RegExp(`another phm \\(process ${first.pid}\\) fills`));
    first.kill('SIGINT');
    await ended;
  });
});
