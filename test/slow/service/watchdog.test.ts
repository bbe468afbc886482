/**
 * The watchdog beats for systemd, sent by a real server and the real `systemd-notify` to a socket in Python. 20
 * s. Expected: READY=1 once; beats while the server lives, also while its database is locked; no beats while
 * the process is stopped, its main thread hangs or its key worker hangs; STOPPING=1 once.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { hangThreads } from '../../support/faults/hang-threads.ts';
import { until } from '../../support/run/until.ts';
import { makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

const RECEIVER = `
import os, socket, sys
end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
end.bind(sys.argv[1])
print('bound', flush=True)
while True:
    for line in end.recv(4096).decode().split('\\n'):
        print(line, flush=True)
`;

/** Longer than several beats take. */
const SILENCE_MS = 3_000;

const missing = ['python3', 'systemd-notify'].find(
  (name) => spawnSync(name, ['--version']).status !== 0,
);

describe('the systemd beats of a server', {
  skip: missing && `${missing} is not installed here`,
}, () => {
  const dataDir = makeDataDir();
  const socket = join(dataDir, 'notify');
  let receiver: ChildProcess;
  let server: Server;
  let received: string[] = [];

  const beats = () => received.filter((line) => line === 'WATCHDOG=1').length;
  const beat = async () => {
    const count = beats();
    await until('a beat comes', () => beats() > count);
  };
  /** Waits until the beats have stopped: some may be on their way. */
  const assertSilent = () =>
    until('no beats come', async () => {
      const count = beats();
      await sleep(SILENCE_MS);
      return beats() === count;
    });

  before(async () => {
    receiver = spawn('python3', ['-c', RECEIVER, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
    receiver.stdout?.setEncoding('utf8').on('data', (text: string) => {
      received.push(...text.trimEnd().split('\n'));
    });
    while (!received.includes('bound')) await once(receiver.stdout ?? receiver, 'data');
    server = await Server.start(dataDir, {
      ...hangThreads(dataDir),
      NOTIFY_SOCKET: socket,
      WATCHDOG_USEC: '1000000',
    });
  });
  after(async () => {
    await server?.stop('SIGKILL');
    receiver?.kill('SIGKILL');
    removeDataDir(dataDir);
  });

  it('start when it listens', async () => {
    await beat();
    assert.equal(received.filter((line) => line === 'READY=1').length, 1);
    assert.ok(received.includes(`STATUS=listening on ${server.address}`));
  });

  it('continue while the database is locked', async () => {
    const other = new DatabaseSync(join(dataDir, 'phm.db'), { timeout: 10_000 });
    other.exec('BEGIN IMMEDIATE');
    const refused = server.generate({ security_level: 256 });
    for (let i = 0; i < 3; i += 1) await beat();
    assert.equal((await refused).status, 503);
    other.exec('ROLLBACK');
    other.close();
    assert.equal((await server.generate({ security_level: 256 })).status, 200);
  });

  it('stop while the process is stopped', async () => {
    process.kill(server.pid, 'SIGSTOP');
    await assertSilent();
    process.kill(server.pid, 'SIGCONT');
    await beat();
  });

  for (const thread of ['main', 'phm-keys']) {
    it(`stop while the ${thread} thread hangs`, async () => {
      writeFileSync(join(dataDir, thread), '');
      await assertSilent();
      rmSync(join(dataDir, thread));
      await beat();
    });
  }

  it('continue until the server has ended, which it reports', async () => {
    received = [];
    assert.equal(await server.stop('SIGTERM'), 0);
    await until('the end is reported', () =>
      ['STOPPING=1', 'STATUS=draining', 'WATCHDOG=1'].every((line) => received.includes(line)),
    );
    assert.equal(received.filter((line) => line === 'STOPPING=1').length, 1);
  });
});
