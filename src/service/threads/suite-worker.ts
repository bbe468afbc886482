/**
 * A suite worker thread: makes validated keys, keys of batches and sealed keys (`suite-keys.ts`), and judges samples of the
 * key worker's generator. Each thread has its own generator. Keys in plaintext go to the main thread, which holds them
 * until the key worker has recorded them; of a sealed key only the sealed form leaves this thread.
 */
import type { MessagePort } from 'node:worker_threads';
import { SECOND_MS } from '../../clock.ts';
import { Generator, type GeneratorSources } from '../../keys/generator.ts';
import { type EvidenceWarning, Latch } from '../../keys/latch.ts';
import { requireSealSelfTest } from '../../keys/seal-self-test.ts';
import { requireSelfTests, requireSuiteSelfTest, screenLiveCarrier } from '../../keys/self-test.ts';
import { suiteSelfTest } from '../../keys/suite-self-test.ts';
import type { MasterSecret } from '../../proof/index.ts';
import { takeSecret } from '../secret/versions.ts';
import type { SuiteJob, SuiteMessage, SuiteReply, SuiteWorkerMessage } from '../suite/messages.ts';
import type { LogBinding, WorkerReady } from './messages.ts';
import { lowerPriority, PendingAnswers, runThread, threadData } from './run-thread.ts';
import { SampleSuite } from './sample-suite.ts';
import { SuiteKeys } from './suite-keys.ts';

export interface SuiteWorkerData {
  readonly sources: GeneratorSources;
  readonly secret: MasterSecret;
  /** Memory of the `Latch`. */
  readonly latch: SharedArrayBuffer;
  /** The open log; null without one. */
  readonly log: LogBinding | null;
}

/** Time between two looks at the age of the evidence for released plain keys. */
const REFRESH_MS = 30 * SECOND_MS;

async function start(port: MessagePort): Promise<void> {
  lowerPriority();
  requireSelfTests();
  requireSuiteSelfTest();
  await requireSealSelfTest();
  const data = await threadData<SuiteWorkerData>();
  const keyring = takeSecret(data.secret);
  const warnings: EvidenceWarning[] = [];
  let onWarning = (warning: EvidenceWarning): void => void warnings.push(warning);
  const latch = new Latch(data.latch);
  const generator = Generator.start(data.sources, latch, {
    knownAnswers: () => [suiteSelfTest(1)],
    onWarning: (warning) => onWarning(warning),
  });
  screenLiveCarrier(generator);
  const suite = new SampleSuite(generator);
  const keys = new SuiteKeys(generator, keyring, data.log);
  const pending = new PendingAnswers();
  const post = (message: SuiteWorkerMessage) => port.postMessage(message);
  const refresh = setInterval(() => {
    const verdicts = keys.refresh();
    if (verdicts) post({ verdicts });
  }, REFRESH_MS);
  const work = async (jobs: readonly SuiteJob[]): Promise<void> => {
    const replies: SuiteReply[] = [];
    for (const job of jobs) replies.push(await keys.run(job));
    const moved = replies.flatMap(({ result }) =>
      result.kind === 'made' ? [result.keys.secrets, result.rows.bytes] : [],
    );
    port.postMessage({ replies } satisfies SuiteWorkerMessage, moved);
  };
  let isReported = false;
  const reportUnvouched = (): void => {
    if (isReported) return;
    isReported = true;
    post(keys.unvouched());
  };
  const close = async (): Promise<void> => {
    await pending.sent();
    // The main thread may hear of the latch late, and ask no more.
    if (latch.read()) reportUnvouched();
    clearInterval(refresh);
    generator.close();
    keyring.destroy();
    port.close();
  };
  port.on('message', (message: SuiteMessage) => {
    if (message === 'close') {
      void close();
    } else if (message === 'probe') {
      generator.probe();
      post({ probed: generator.status() });
    } else if (message === 'unvouched') {
      reportUnvouched();
    } else if (message === 'vouch') {
      post({ unvouched: keys.vouchForLast() });
    } else if ('settled' in message) {
      keys.settled(message);
    } else if ('sample' in message) {
      post(suite.judge(message));
    } else {
      pending.add(work(message.jobs));
    }
  });
  const status = generator.status();
  port.postMessage({ kind: 'ready', status, warnings } satisfies WorkerReady);
  // The main thread listens from now on.
  onWarning = post;
}

void runThread(start);
