/** Messages to systemd, recorded by a program in place of `systemd-notify`. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { Supervisor } from '../../src/serve/supervisor.ts';

const LIMIT_MS = 60_000;

/** A supervisor whose messages are the lines of a file. */
function supervise(t: TestContext, more: Record<string, string> = {}) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = mkdtempSync(join(tmpdir(), 'phm-notify-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'sent');
  writeFileSync(file, '');
  const script = `#!/bin/sh\necho "$NOTIFY_SOCKET \${PHM_MASTER_KEY-} $*" >> '${file}'\n`;
  writeFileSync(join(folder, 'systemd-notify'), script, { mode: 0o755 });
  const failures: string[] = [];
  const env = {
    PATH: `${folder}${delimiter}${process.env.PATH}`,
    NOTIFY_SOCKET: '@test',
    WATCHDOG_USEC: String(LIMIT_MS * 1000),
    WATCHDOG_PID: String(process.pid),
    PHM_MASTER_KEY: 'secret',
    ...more,
  };
  const supervisor = new Supervisor(env, (reason) => failures.push(reason));
  t.after(() => supervisor.close());
  const sent = async (count: number) => {
    const lines = () => readFileSync(file, 'utf8').split('\n').slice(0, -1);
    while (lines().length < count) await sleep(5);
    return lines();
  };
  return { supervisor, sent, failures };
}

describe('the supervisor', () => {
  it('reports start, beats and shutdown to systemd, and no secret', async (t) => {
    const { supervisor, sent, failures } = supervise(t);
    supervisor.ready('listening', async () => {});
    await sent(1);
    t.mock.timers.tick(LIMIT_MS / 3);
    await sent(2);
    supervisor.stopping();
    await sent(3);
    // The drain takes longer than systemd waits for a beat.
    t.mock.timers.tick(LIMIT_MS / 3);
    assert.deepEqual(await sent(4), [
      '@test  READY=1 STATUS=listening',
      '@test  WATCHDOG=1',
      '@test  STOPPING=1 STATUS=draining',
      '@test  WATCHDOG=1',
    ]);
    assert.deepEqual(failures, []);
  });

  it('sends no beat while the key worker does not answer', async (t) => {
    const { supervisor, sent } = supervise(t);
    let asked = 0;
    const hung = Promise.withResolvers<void>();
    supervisor.ready('listening', () => {
      asked += 1;
      return hung.promise;
    });
    t.mock.timers.tick(LIMIT_MS * 3);
    await turn();
    assert.equal(asked, 1);
    assert.equal((await sent(1)).length, 1);
    hung.resolve();
    assert.deepEqual((await sent(2)).slice(1), ['@test  WATCHDOG=1']);
    t.mock.timers.tick(LIMIT_MS / 3);
    assert.equal(asked, 2);
  });

  it('sends no beat if systemd expects none of this process', async (t) => {
    for (const more of [{ WATCHDOG_PID: '1' }, { WATCHDOG_USEC: '' }, { WATCHDOG_USEC: 'x' }]) {
      const { supervisor, sent } = supervise(t, more);
      supervisor.ready('listening', () => assert.fail('asked'));
      t.mock.timers.tick(LIMIT_MS);
      assert.deepEqual(await sent(1), ['@test  READY=1 STATUS=listening']);
      t.mock.timers.reset();
    }
  });

  it('sends nothing without systemd', (t) => {
    const { supervisor, failures } = supervise(t, { NOTIFY_SOCKET: '', PATH: '' });
    supervisor.ready('listening', () => assert.fail('asked'));
    t.mock.timers.tick(LIMIT_MS);
    supervisor.stopping();
    assert.deepEqual(failures, []);
  });

  it('reports that systemd-notify is missing', async (t) => {
    const { supervisor, failures } = supervise(t, { PATH: '/nonexistent' });
    supervisor.ready('listening', async () => {});
    while (failures.length === 0) await sleep(5);
    assert.deepEqual(failures, ['ENOENT']);
  });
});
