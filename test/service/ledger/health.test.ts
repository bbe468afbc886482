import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { LedgerHealth, TICK_MS } from '../../../src/service/ledger/health.ts';

const RECORDED = { startMs: 0, endMs: 1, failure: null, keys: 1 };
const VALIDATED = { ...RECORDED, keys: 0 };
const FAILED = { ...RECORDED, failure: 'no room', keys: 0 };

describe('ledger health', () => {
  let health: LedgerHealth;
  let batch: number | null;

  beforeEach(() => {
    health = new LedgerHealth();
    batch = null;
  });

  /** Lets time pass. Every check is answered at once unless `answer` is omitted. */
  const pass = (ms: number, answer?: string | null): number => {
    let checks = 0;
    for (let tick = 0; tick < ms / TICK_MS; tick++) {
      if (!health.tick(batch === null ? [] : [batch])) continue;
      checks += 1;
      if (answer !== undefined) health.checked(answer);
    }
    return checks;
  };

  it('requests a check every two seconds, one at a time', () => {
    assert.equal(pass(10_000, null), 5);
    assert.equal(pass(10_000), 1);
  });

  it('fails with a failed check and recovers with the next successful one', () => {
    pass(2_000, 'refused');
    assert.equal(health.failure, 'refused');
    pass(2_000, null);
    assert.equal(health.failure, null);
  });

  it('fails within five seconds if a check or a batch hangs', () => {
    batch = 1;
    pass(4_250, null);
    assert.equal(health.failure, null);
    pass(500, null);
    assert.match(health.failure ?? '', /does not answer/);
    health = new LedgerHealth();
    batch = null;
    assert.equal(pass(2_000), 1);
    pass(2_500);
    assert.match(health.failure ?? '', /does not answer/);
  });

  it('times each batch separately, so that a full queue is no failure', () => {
    for (batch = 1; batch < 10; batch++) pass(2_000, null);
    assert.equal(health.failure, null);
  });

  it('stays failed after a late batch fails, until a check that began later succeeds', () => {
    batch = 1;
    pass(4_500);
    batch = null;
    health.committed(FAILED);
    assert.equal(health.failure, 'no room');
    health.checked(null);
    assert.equal(health.failure, 'no room', 'this check began before the commit failed');
    assert.equal(pass(500, null), 1);
    assert.equal(health.failure, 'no room', 'no batch has ended in time since');
    health.committed(RECORDED);
    pass(500, null);
    assert.equal(health.failure, null);
  });

  it('recovers two seconds after a late batch if no other follows', () => {
    batch = 1;
    pass(4_500, null);
    batch = null;
    pass(1_500, null);
    assert.match(health.failure ?? '', /does not answer/);
    pass(2_500, null);
    assert.equal(health.failure, null);
  });

  it('requires a check that ends on time after a late one', () => {
    pass(4_500);
    assert.match(health.failure ?? '', /does not answer/);
    health.checked(null);
    assert.match(health.failure ?? '', /does not answer/);
    assert.equal(pass(500, null), 1);
    assert.equal(health.failure, null);
  });

  it('does not change while a row of an account with failed requests is locked', () => {
    health.committed(FAILED);
    assert.equal(pass(2_000), 1);
    health.checked(null, true);
    assert.equal(health.failure, null);
    assert.equal(pass(2_000), 1);
    health.checked('refused');
    assert.equal(pass(2_000), 1);
    health.checked(null, true);
    assert.equal(health.failure, 'refused');
    pass(2_000, null);
    assert.equal(health.failure, null);
  });

  it('requests a check within half a second of a failed commit', () => {
    pass(2_000, null);
    health.committed(FAILED);
    assert.equal(health.failure, null);
    assert.equal(pass(500, 'locked'), 1);
    assert.equal(health.failure, 'locked');
  });

  it('requests a check just as soon after a recorded key, and after nothing else', () => {
    pass(2_000, 'refused');
    health.committed(VALIDATED);
    assert.equal(pass(500, null), 0);
    health.committed(RECORDED);
    assert.equal(pass(250, null), 1);
    assert.equal(health.failure, null);
  });

  it('stays failed while commits fail between successful checks', () => {
    pass(2_000, 'refused');
    for (let i = 0; i < 2; i++) {
      pass(500);
      health.committed(FAILED);
      health.checked(null);
      assert.equal(health.failure, 'no room');
    }
    pass(500, null);
    assert.equal(health.failure, null);
  });

  it('fails within five seconds, for thirty, if commits fail despite successful checks', () => {
    for (let i = 0; i < 3; i++) {
      assert.equal(health.failure, null);
      health.committed(FAILED);
      pass(500, null);
    }
    assert.equal(health.failure, 'no room');
    pass(29_000, null);
    assert.equal(health.failure, 'no room');
    pass(3_000, null);
    assert.equal(health.failure, null);
    health.committed(FAILED);
    pass(500, null);
    assert.equal(health.failure, 'no room', 'one more is enough then');
    health.committed(RECORDED);
    pass(500, null);
    assert.equal(health.failure, null);
  });

  it('tolerates single failed commits between recorded keys', () => {
    for (let i = 0; i < 20; i++) {
      health.committed(FAILED);
      pass(500, null);
      health.committed(RECORDED);
    }
    assert.equal(health.failure, null);
  });
});
