/** Log lines about changes of the ledger and of retirements. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { logLedger } from '../../src/serve/ledger-log.ts';
import type { LedgerStatus, RetiredVersion } from '../../src/service/index.ts';

const [INFO, WARN, ERROR] = [30, 40, 50];
const NOON = Date.UTC(2026, 10, 22, 12);
const HOUR = 3_600_000;

const retirement = (
  version: number,
  compromisedMs: number | null,
  current = false,
): RetiredVersion => ({ version, compromisedMs, current });

const status = (...retired: RetiredVersion[]): LedgerStatus => ({
  failure: null,
  isForeign: false,
  lackedVersions: [],
  retired,
  host: null,
});

/** Returns level, version and message of each log line of a change. */
function logged(now: LedgerStatus, before: LedgerStatus): [number, number | number[], string][] {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => lines.push(line) });
  logLedger(logger, now, before);
  return lines
    .map((line) => JSON.parse(line))
    .map(({ level, version, versions, msg }) => [level, version ?? versions, msg]);
}

describe('the log of retirements', () => {
  it('informs of new or stricter retirements and omits unchanged ones', () => {
    const same = retirement(1, null);
    const line = [INFO, 2, 'a version of the master secret is retired'];
    for (const [now, before] of [
      [status(same, retirement(2, null)), status(same)],
      [status(same, retirement(2, NOON)), status(same, retirement(2, null))],
      [status(same, retirement(2, NOON - HOUR)), status(same, retirement(2, NOON))],
    ]) {
      assert.deepEqual(logged(now, before), [line]);
    }
    assert.deepEqual(logged(status(same), status(same)), []);
  });

  it('warns if the time of a compromise became later or was lost', () => {
    const before = status(retirement(2, NOON, true));
    for (const compromisedMs of [NOON + HOUR, null]) {
      const [[level, version, message], ...others] = logged(
        status(retirement(2, compromisedMs, true)),
        before,
      );
      assert.deepEqual([level, version, others], [WARN, 2, []]);
      assert.match(message, /lets more rows count than before/);
    }
  });

  it('warns of a reinstated version, and reports a retired current version as an error', () => {
    const [back, current] = logged(status(retirement(2, null, true)), status(retirement(1, null)));
    assert.deepEqual(back, [WARN, [1], 'versions of the master secret are no longer retired']);
    assert.equal(current[0], ERROR);
    assert.match(current[2], /the current version of the master secret is retired/);
  });
});
