import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiKeyUses } from '../../../src/service/access/api-key-uses.ts';

const HOUR_MS = 3_600_000;

/** Uses with a clock in hours that the test sets, and a ledger that can fail. */
function makeUses() {
  const state = { hour: 7, fails: false };
  const written: [string[], number][] = [];
  const clock = { nowMs: () => state.hour * HOUR_MS + 1 };
  const uses = new ApiKeyUses(clock as never, async (apiKeyIds, hour) => {
    if (state.fails) throw new Error('staged');
    written.push([[...apiKeyIds], hour]);
  });
  const note = (apiKeyId: string, lastUsedHour: number | null = null) =>
    uses.note({ apiKeyId, lastUsedHour });
  return { state, written, uses, note };
}

describe('the uses of API keys', () => {
  it('are written together, once an hour for each API key', async () => {
    const { state, written, uses, note } = makeUses();
    for (const one of ['a', 'b', 'a']) note(one);
    note('known', 7);
    await uses.flush();
    note('a');
    await uses.flush();
    state.hour = 8;
    note('a', 7);
    await uses.flush();
    assert.deepEqual(written, [
      [['a', 'b'], 7],
      [['a'], 8],
    ]);
  });

  it('keep their hour if the next one begins before they are written', async () => {
    const { state, written, uses, note } = makeUses();
    note('a');
    state.hour = 8;
    note('a');
    await uses.flush();
    assert.deepEqual(written, [
      [['a'], 7],
      [['a'], 8],
    ]);
  });

  it('are written later if the ledger fails, within their hour', async () => {
    const { state, written, uses, note } = makeUses();
    note('a');
    state.fails = true;
    await uses.flush();
    state.fails = false;
    await uses.flush();
    assert.deepEqual(written, [[['a'], 7]]);
  });

  it('are written once more at the end, and not again if that fails', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { state, written, uses, note } = makeUses();
    note('a');
    state.fails = true;
    await uses.end(true);
    state.fails = false;
    t.mock.timers.tick(10_000);
    await Promise.resolve();
    assert.deepEqual(written, []);
  });

  it('are not written at the end if they may not be', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { written, uses, note } = makeUses();
    note('a');
    await uses.end(false);
    t.mock.timers.tick(10_000);
    await Promise.resolve();
    assert.deepEqual(written, []);
  });

  it('are written by a timer', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { written, note } = makeUses();
    note('a');
    t.mock.timers.tick(10_000);
    await Promise.resolve();
    assert.deepEqual(written, [[['a'], 7]]);
  });
});
