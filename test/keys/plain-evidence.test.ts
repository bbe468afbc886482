/** The schedule of samples of the plain generator: when they are due, when keys wait, which keys lack evidence. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Instant } from '../../src/clock.ts';
import { mayRelease, PlainEvidence } from '../../src/keys/plain-evidence.ts';

const INTERVAL = 10;
const NINE_MINUTES = 540_000;
const TEN_MINUTES = 600_000;

/** The same time on both clocks. */
const at = (ms: number): Instant => ({ monotonicMs: ms, wallMs: ms });

/** Evidence after a good sample at time 0, before any key. */
function started(): PlainEvidence {
  const evidence = new PlainEvidence(INTERVAL);
  evidence.sampleDrawn(at(0));
  assert.equal(evidence.judged(true), 'none');
  return evidence;
}

function makeKeys(evidence: PlainEvidence, count: number): number[] {
  return Array.from({ length: count }, () => evidence.keyGenerated());
}

/** Returns if a sample is due and if keys wait. */
const stateOf = (evidence: PlainEvidence, nowMs = 1) => [
  evidence.isDue(at(nowMs)),
  evidence.mustWait(at(nowMs)),
];

describe('the evidence on plain keys', () => {
  it('needs a sample before the first key, and keys wait for it', () => {
    const evidence = new PlainEvidence(INTERVAL);
    assert.deepEqual(stateOf(evidence), [true, true]);
    evidence.sampleDrawn(at(0));
    assert.deepEqual(stateOf(evidence), [false, true]);
    evidence.judged(true);
    assert.deepEqual(stateOf(evidence), [false, false]);
  });

  it('needs a sample after one interval of keys, which continue meanwhile', () => {
    const evidence = started();
    makeKeys(evidence, INTERVAL - 1);
    assert.deepEqual(stateOf(evidence), [false, false]);
    makeKeys(evidence, 1);
    assert.deepEqual(stateOf(evidence), [true, false]);
    evidence.sampleDrawn(at(1));
    makeKeys(evidence, INTERVAL - 1);
    assert.deepEqual(stateOf(evidence), [false, false]);
  });

  it('makes keys wait if the next sample is due before the verdict on the last', () => {
    const evidence = started();
    makeKeys(evidence, INTERVAL);
    evidence.sampleDrawn(at(1));
    makeKeys(evidence, INTERVAL);
    assert.deepEqual(stateOf(evidence), [false, true]);
    evidence.judged(true);
    assert.deepEqual(stateOf(evidence), [true, false]);
  });

  it('needs a sample nine minutes after the last good one, and keys wait after ten', () => {
    const evidence = started();
    assert.deepEqual(stateOf(evidence, NINE_MINUTES - 1), [false, false]);
    assert.deepEqual(stateOf(evidence, NINE_MINUTES), [true, false]);
    evidence.sampleDrawn(at(NINE_MINUTES));
    assert.deepEqual(stateOf(evidence, TEN_MINUTES - 1), [false, false]);
    assert.deepEqual(stateOf(evidence, TEN_MINUTES), [false, true]);
    assert.equal(mayRelease(evidence.state, 0, at(TEN_MINUTES)), false);
    evidence.judged(true);
    assert.deepEqual(stateOf(evidence, 2 * NINE_MINUTES - 1), [false, false]);
    assert.equal(mayRelease(evidence.state, 0, at(NINE_MINUTES + TEN_MINUTES)), false);
  });

  it('releases keys that were generated while generation was allowed', () => {
    const evidence = started();
    makeKeys(evidence, INTERVAL);
    evidence.sampleDrawn(at(1));
    makeKeys(evidence, INTERVAL);
    assert.deepEqual(
      [evidence.mustWait(at(1)), mayRelease(evidence.state, 0, at(1))],
      [true, true],
    );
    evidence.judged(false);
    assert.equal(mayRelease(evidence.state, 0, at(1)), false);
  });

  it('never releases keys from before a failed sample, although a second one passed', () => {
    const evidence = started();
    const { failures } = evidence;
    for (const passed of [false, true]) {
      evidence.sampleDrawn(at(1));
      evidence.judged(passed);
    }
    assert.equal(mayRelease(evidence.state, failures, at(1)), false);
    assert.equal(mayRelease(evidence.state, evidence.failures, at(1)), true);
  });

  it('requests a second sample after a failure, and keys wait for it', () => {
    const evidence = started();
    makeKeys(evidence, INTERVAL);
    evidence.sampleDrawn(at(1));
    assert.equal(evidence.judged(false), 'second_sample');
    assert.deepEqual(stateOf(evidence), [true, true]);
    evidence.sampleDrawn(at(1));
    assert.deepEqual(stateOf(evidence), [false, true]);
    assert.equal(evidence.judged(true), 'none');
    assert.deepEqual(stateOf(evidence), [false, false]);
  });

  it('latches on two failures in a row, but not with a pass between them', () => {
    const evidence = started();
    for (const [passed, consequence] of [
      [false, 'second_sample'],
      [true, 'none'],
      [false, 'second_sample'],
      [false, 'latch'],
    ] as const) {
      evidence.sampleDrawn(at(1));
      assert.equal(evidence.judged(passed), consequence);
    }
  });

  it('lists keys generated after the last good sample, however late their rows are durable', () => {
    const evidence = started();
    const [first, second, late] = makeKeys(evidence, 3);
    evidence.keyReleased(first, 'first');
    evidence.keyReleased(second, 'second');
    evidence.sampleDrawn(at(1));
    const [after] = makeKeys(evidence, 1);
    evidence.keyReleased(after, 'after');
    assert.deepEqual(evidence.unvouchedKeys(), ['first', 'second', 'after']);
    evidence.judged(true);
    evidence.keyReleased(late, 'late');
    assert.deepEqual(evidence.unvouchedKeys(), ['after']);
  });

  it('keeps the list across failures', () => {
    const evidence = started();
    evidence.keyReleased(evidence.keyGenerated(), 'one');
    for (let i = 0; i < 2; i++) {
      evidence.sampleDrawn(at(1));
      evidence.judged(false);
    }
    assert.deepEqual(evidence.unvouchedKeys(), ['one']);
  });

  it('keeps keys before a failure in the list until two samples in a row pass', () => {
    const evidence = started();
    const judge = (passed: boolean) => {
      evidence.sampleDrawn(at(1));
      evidence.judged(passed);
    };
    const [first, late] = makeKeys(evidence, 2);
    evidence.keyReleased(first, 'first');
    judge(false);
    judge(true);
    evidence.keyReleased(late, 'late');
    assert.deepEqual(evidence.unvouchedKeys(), ['first', 'late']);
    judge(false);
    judge(true);
    assert.deepEqual(evidence.unvouchedKeys(), ['first', 'late'], 'a failure came in between');
    evidence.keyReleased(evidence.keyGenerated(), 'third');
    judge(true);
    assert.deepEqual(evidence.unvouchedKeys(), []);
  });

  it('returns when the last sample that vouches for keys was drawn', () => {
    const evidence = new PlainEvidence();
    const judge = (atMs: number, passed: boolean) => {
      evidence.sampleDrawn({ monotonicMs: atMs, wallMs: 1_000 + atMs });
      evidence.judged(passed);
      return evidence.lastGoodMs;
    };
    assert.equal(evidence.lastGoodMs, null);
    assert.equal(judge(1, true), 1_001);
    assert.equal(judge(2, false), 1_001);
    assert.equal(judge(3, true), 1_001, 'a failure came before');
    assert.equal(judge(4, true), 1_004);
  });

  it('takes the age of a sample from the clock that shows more time', () => {
    const suspended = { monotonicMs: 1, wallMs: TEN_MINUTES };
    const setBack = { monotonicMs: TEN_MINUTES, wallMs: -TEN_MINUTES };
    for (const now of [suspended, setBack]) {
      const evidence = started();
      assert.deepEqual([evidence.isDue(now), evidence.mustWait(now)], [true, true]);
    }
    const recent = { monotonicMs: 1, wallMs: -TEN_MINUTES };
    assert.equal(started().mustWait(recent), false);
  });
});
