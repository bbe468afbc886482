/** Samples of the generator of plain keys go to the suite, verdicts come back, and a late verdict is noticed. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import type { SampleVerdict } from '../../../src/keys/evidence-suite.ts';
import { EvidenceWatch } from '../../../src/service/suite/evidence-watch.ts';
import { SuiteLateness } from '../../../src/service/suite/limit.ts';
import { sampleVerdict } from '../../support/servers/fakes.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

class FakeWorker extends EventEmitter {
  readonly messages: unknown[] = [];

  postMessage(message: unknown): void {
    this.messages.push(message);
  }
}

function makeWatch() {
  const worker = new FakeWorker();
  const answers: ((verdict: SampleVerdict) => void)[] = [];
  const judge = () => new Promise<SampleVerdict>((resolve) => answers.push(resolve));
  const told: boolean[] = [];
  const lateness = new SuiteLateness((isLate) => told.push(isLate));
  const watch = new EvidenceWatch(worker as unknown as Worker, { judge }, lateness);
  const draw = () => worker.emit('message', { sample: new Uint8Array(8) });
  const answer = async (passed: boolean) => {
    answers.shift()?.(sampleVerdict(passed));
    await turn();
  };
  return { worker, watch, lateness, told, draw, answer };
}

describe('the evidence watch', () => {
  it('passes each verdict to the key worker and reports nothing while verdicts are on time', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { worker, watch, lateness, told, draw, answer } = makeWatch();
    for (const passed of [false, true]) {
      draw();
      test.mock.timers.tick(9_999);
      await answer(passed);
    }
    assert.deepEqual(worker.messages, [sampleVerdict(false), sampleVerdict(true)]);
    assert.equal(watch.failures, 1, 'a pass does not take a failure back');
    test.mock.timers.tick(60_000);
    assert.deepEqual([lateness.isLate, told], [false, []]);
  });

  it('counts a failure before the key worker hears of it', async () => {
    const { worker, watch, draw, answer } = makeWatch();
    const counted: number[] = [];
    worker.postMessage = () => void counted.push(watch.failures);
    draw();
    await answer(false);
    assert.deepEqual(counted, [1]);
  });

  it('reports once that a verdict is ten seconds late, and once that it arrived', async (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const { worker, lateness, told, draw, answer } = makeWatch();
    draw();
    test.mock.timers.tick(10_000);
    assert.deepEqual([lateness.isLate, told], [true, [true]]);
    test.mock.timers.tick(60_000);
    await answer(true);
    assert.deepEqual([lateness.isLate, told], [false, [true, false]]);
    assert.deepEqual(worker.messages, [sampleVerdict(true)]);
  });
});
