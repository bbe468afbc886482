/** When samples of the plain generator are due, when keys wait, and which keys no good sample vouches for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Instant } from '../../src/clock.ts';
import { PlainJudgement } from '../../src/keys/plain-evidence.ts';

const INTERVAL = 10;
const NINE_MINUTES = 540_000;
const TEN_MINUTES = 600_000;

/** By both clocks. */
const at = (ms: number): Instant => ({ monotonicMs: ms, wallMs: ms });

/** Judged good at time 0, before any key. */
function started(): PlainJudgement {
  const judgement = new PlainJudgement(INTERVAL);
  judgement.sampleDrawn(at(0));
  assert.equal(judgement.judged(true), 'none');
  return judgement;
}

function makeKeys(judgement: PlainJudgement, count: number): number[] {
  return Array.from({ length: count }, () => judgement.keyMade());
}

/** Whether a sample is due, and whether keys wait. */
const stateOf = (judgement: PlainJudgement, nowMs = 1) => [
  judgement.isDue(at(nowMs)),
  judgement.mustWait(at(nowMs)),
];

describe('the judgement of the plain generator', () => {
  it('is due before the first key, and keys wait for it', () => {
    const judgement = new PlainJudgement(INTERVAL);
    assert.deepEqual(stateOf(judgement), [true, true]);
    judgement.sampleDrawn(at(0));
    assert.deepEqual(stateOf(judgement), [false, true]);
    judgement.judged(true);
    assert.deepEqual(stateOf(judgement), [false, false]);
  });

  it('is due after as many keys as the interval, and keys go on meanwhile', () => {
    const judgement = started();
    makeKeys(judgement, INTERVAL - 1);
    assert.deepEqual(stateOf(judgement), [false, false]);
    makeKeys(judgement, 1);
    assert.deepEqual(stateOf(judgement), [true, false]);
    judgement.sampleDrawn(at(1));
    makeKeys(judgement, INTERVAL - 1);
    assert.deepEqual(stateOf(judgement), [false, false]);
  });

  it('has keys wait when the next sample is due while one is out', () => {
    const judgement = started();
    makeKeys(judgement, INTERVAL);
    judgement.sampleDrawn(at(1));
    makeKeys(judgement, INTERVAL);
    assert.deepEqual(stateOf(judgement), [false, true]);
    judgement.judged(true);
    assert.deepEqual(stateOf(judgement), [true, false]);
  });

  it('is due nine minutes after the last good sample was drawn, and keys wait from ten', () => {
    const judgement = started();
    assert.deepEqual(stateOf(judgement, NINE_MINUTES - 1), [false, false]);
    assert.deepEqual(stateOf(judgement, NINE_MINUTES), [true, false]);
    judgement.sampleDrawn(at(NINE_MINUTES));
    assert.deepEqual(stateOf(judgement, TEN_MINUTES - 1), [false, false]);
    assert.deepEqual(stateOf(judgement, TEN_MINUTES), [false, true]);
    assert.equal(judgement.mayRelease(at(TEN_MINUTES)), false);
    judgement.judged(true);
    assert.deepEqual(stateOf(judgement, 2 * NINE_MINUTES - 1), [false, false]);
    assert.equal(judgement.mayRelease(at(NINE_MINUTES + TEN_MINUTES)), false);
  });

  it('lets keys leave that were made while they might be', () => {
    const judgement = started();
    makeKeys(judgement, INTERVAL);
    judgement.sampleDrawn(at(1));
    makeKeys(judgement, INTERVAL);
    assert.deepEqual([judgement.mustWait(at(1)), judgement.mayRelease(at(1))], [true, true]);
    judgement.judged(false);
    assert.equal(judgement.mayRelease(at(1)), false);
  });

  it('asks for a second sample after a failure, for which keys wait', () => {
    const judgement = started();
    makeKeys(judgement, INTERVAL);
    judgement.sampleDrawn(at(1));
    assert.equal(judgement.judged(false), 'second_sample');
    assert.deepEqual(stateOf(judgement), [true, true]);
    judgement.sampleDrawn(at(1));
    assert.deepEqual(stateOf(judgement), [false, true]);
    assert.equal(judgement.judged(true), 'none');
    assert.deepEqual(stateOf(judgement), [false, false]);
  });

  it('latches on two failures in a row, not on two with a pass between them', () => {
    const judgement = started();
    for (const [passed, consequence] of [
      [false, 'second_sample'],
      [true, 'none'],
      [false, 'second_sample'],
      [false, 'latch'],
    ] as const) {
      judgement.sampleDrawn(at(1));
      assert.equal(judgement.judged(passed), consequence);
    }
  });

  it('lists keys made after the last good sample, whenever their rows became durable', () => {
    const judgement = started();
    const [first, second, late] = makeKeys(judgement, 3);
    judgement.keyReleased(first, 'first');
    judgement.keyReleased(second, 'second');
    judgement.sampleDrawn(at(1));
    const [after] = makeKeys(judgement, 1);
    judgement.keyReleased(after, 'after');
    assert.deepEqual(judgement.unjudgedKeys(), ['first', 'second', 'after']);
    judgement.judged(true);
    judgement.keyReleased(late, 'late');
    assert.deepEqual(judgement.unjudgedKeys(), ['after']);
  });

  it('keeps the list over failures', () => {
    const judgement = started();
    judgement.keyReleased(judgement.keyMade(), 'one');
    for (let i = 0; i < 2; i++) {
      judgement.sampleDrawn(at(1));
      judgement.judged(false);
    }
    assert.deepEqual(judgement.unjudgedKeys(), ['one']);
  });

  it('keeps the keys before a failure in the list when the next sample passes, until one passes after that', () => {
    const judgement = started();
    const judge = (passed: boolean) => {
      judgement.sampleDrawn(at(1));
      judgement.judged(passed);
    };
    const [first, late] = makeKeys(judgement, 2);
    judgement.keyReleased(first, 'first');
    judge(false);
    judge(true);
    judgement.keyReleased(late, 'late');
    assert.deepEqual(judgement.unjudgedKeys(), ['first', 'late']);
    judge(false);
    judge(true);
    assert.deepEqual(judgement.unjudgedKeys(), ['first', 'late'], 'a failure came in between');
    judgement.keyReleased(judgement.keyMade(), 'third');
    judge(true);
    assert.deepEqual(judgement.unjudgedKeys(), []);
  });

  it('tells when the last sample was drawn that vouches for keys', () => {
    const judgement = new PlainJudgement();
    const judge = (atMs: number, passed: boolean) => {
      judgement.sampleDrawn({ monotonicMs: atMs, wallMs: 1_000 + atMs });
      judgement.judged(passed);
      return judgement.lastGoodMs;
    };
    assert.equal(judgement.lastGoodMs, null);
    assert.equal(judge(1, true), 1_001);
    assert.equal(judge(2, false), 1_001);
    assert.equal(judge(3, true), 1_001, 'a failure came before');
    assert.equal(judge(4, true), 1_004);
  });

  it('takes a sample for as old as the clock says that shows more', () => {
    const suspended = { monotonicMs: 1, wallMs: TEN_MINUTES };
    const setBack = { monotonicMs: TEN_MINUTES, wallMs: -TEN_MINUTES };
    for (const now of [suspended, setBack]) {
      const judgement = started();
      assert.deepEqual([judgement.isDue(now), judgement.mustWait(now)], [true, true]);
    }
    const recent = { monotonicMs: 1, wallMs: -TEN_MINUTES };
    assert.equal(started().mustWait(recent), false);
  });
});
