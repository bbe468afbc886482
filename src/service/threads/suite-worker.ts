/**
 * A suite worker thread: generates keys and judges their streams by the statistical suite first. Each thread has its own
 * generator. The key and its evidence go to the main thread, which holds the key until the key worker has recorded it.
 */
import { type MessagePort, workerData } from 'node:worker_threads';
import { monotonicMs } from '../../clock.ts';
import { generateKey } from '../../keys/generate.ts';
import { Generator, type GeneratorSources } from '../../keys/generator.ts';
import { type FailedVerdict, Latch } from '../../keys/latch.ts';
import type { StreamTally } from '../../keys/order.ts';
import { requireSelfTests, requireSuiteSelfTest, screenLiveCarrier } from '../../keys/self-test.ts';
import { suiteSelfTest } from '../../keys/suite-self-test.ts';
import type { Keyring, MasterSecret } from '../../proof/index.ts';
import { takeSecret } from '../master-secret.ts';
import {
  type EvidenceSample,
  type LogBinding,
  type SuiteJob,
  type SuiteProbeReply,
  type SuiteReply,
  secretBuffers,
  toFailure,
  type WorkerReady,
} from '../messages.ts';
import { lowerPriority, runThread } from './run-thread.ts';
import { SampleSuite } from './sample-suite.ts';

export interface SuiteWorkerData {
  readonly sources: GeneratorSources;
  readonly secret: MasterSecret;
  /** Memory of the `Latch`. */
  readonly latch: SharedArrayBuffer;
  /** The open log; null without one. */
  readonly log: LogBinding | null;
}

/** Messages from the main thread: a job, a sample of another thread's generator, a probe, or the end. */
export type SuiteMessage = SuiteJob | EvidenceSample | 'probe' | 'close';

function answer(
  generator: Generator,
  keyring: Keyring,
  hasLog: boolean,
  job: SuiteJob,
): Omit<SuiteReply, 'failedVerdicts'> {
  const startMs = monotonicMs();
  const counts: StreamTally = { streams: 0, streamsPassed: 0 };
  let result: SuiteReply['result'];
  try {
    if (generator.isSampleDue) screenLiveCarrier(generator);
    const generated = generateKey(generator, keyring, job.order, counts, hasLog);
    result = { kind: 'generated', generated };
  } catch (error) {
    result = { kind: 'failed', failure: toFailure(error) };
  }
  return { result, counts, ms: monotonicMs() - startMs, status: generator.status() };
}

function start(port: MessagePort, data: SuiteWorkerData): void {
  lowerPriority();
  requireSelfTests();
  requireSuiteSelfTest();
  const keyring = takeSecret(data.secret);
  const failed: FailedVerdict[] = [];
  const generator = Generator.start(data.sources, new Latch(data.latch), {
    knownAnswers: () => [suiteSelfTest(1)],
    onFailedVerdict: (verdict) => failed.push(verdict),
  });
  screenLiveCarrier(generator);
  const suite = new SampleSuite(generator);
  port.on('message', (message: SuiteMessage) => {
    if (message === 'close') {
      generator.close();
      keyring.destroy();
      port.close();
    } else if (message === 'probe') {
      generator.probe();
      port.postMessage({ probed: generator.status() } satisfies SuiteProbeReply);
    } else if ('sample' in message) {
      port.postMessage(suite.judge(message));
    } else {
      const reply: SuiteReply = {
        ...answer(generator, keyring, data.log !== null, message),
        failedVerdicts: failed.splice(0),
      };
      const { result } = reply;
      port.postMessage(reply, result.kind === 'generated' ? secretBuffers(result.generated) : []);
    }
  });
  const failedVerdicts = failed.splice(0);
  const status = generator.status();
  port.postMessage({ kind: 'ready', status, failedVerdicts } satisfies WorkerReady);
}

void runThread((port) => start(port, workerData as SuiteWorkerData));
