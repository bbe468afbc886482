/** Log lines about keys in doubt after a latch, and about a suite worker that was ended. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Logger, pino } from 'pino';
import type { LatchCause } from '../../src/keys/index.ts';
import { logLatch, logLostSuiteWorker, logUnvouchedKeys } from '../../src/serve/latch-log.ts';

/** Returns the lines that `write` logs. */
function linesOf(write: (logger: Logger) => void) {
  const lines: string[] = [];
  write(pino({ base: null }, { write: (line) => lines.push(line) }));
  return lines.map((line) => JSON.parse(line));
}

describe('the log of a latch', () => {
  it('calls all keys since startup suspect if no sample showed the defect', () => {
    const released = { keys: 7, sinceMs: Date.UTC(2026, 10, 22) };
    const suspectOf = (cause: LatchCause) => {
      const defect = { cause, test: 'staged', detail: 'staged' };
      const [line] = linesOf((logger) => logLatch(logger, defect, released));
      assert.equal(line.cause, cause);
      return [line.suspect, line.keys];
    };
    const all = ['all keys of this process since 2026-11-22T00:00:00.000+00:00', 7];
    for (const cause of ['self_test', 'key_test', 'repeated_key', 'altered_key'] as const) {
      assert.deepEqual(suspectOf(cause), all, cause);
    }
    for (const cause of ['gate', 'screen'] as const) {
      assert.deepEqual(suspectOf(cause), [undefined, undefined], cause);
    }
  });

  it('names each key once, 100 per line', () => {
    const keyIds = Array.from({ length: 201 }, (_, i) => `phm_${i}`);
    const lastGoodMs = Date.UTC(2026, 10, 22, 12, 30);
    const lines = linesOf((logger) => logUnvouchedKeys(logger, keyIds, lastGoodMs));
    assert.deepEqual(
      lines.flatMap((line) => line.keyIds),
      keyIds,
    );
    assert.deepEqual(
      lines.map(({ part, parts, lastGoodAt }) => [part, parts, lastGoodAt]),
      [1, 2, 3].map((part) => [part, 3, '2026-11-22T12:30:00.000+00:00']),
    );
    const [none] = linesOf((logger) => logUnvouchedKeys(logger, [], null));
    assert.deepEqual([none.lastGoodAt, none.keyIds], [null, []]);
  });
});

describe('the log of a suite worker that hangs at its start', () => {
  it('says how long the server waited, and that it goes on', () => {
    const [{ level, waitedSeconds, msg }] = linesOf((logger) =>
      logLostSuiteWorker(logger, 120_000),
    );
    assert.deepEqual([level, waitedSeconds], [50, 120]);
    assert.equal(msg, 'a suite worker did not start: the server goes on without it');
  });
});
