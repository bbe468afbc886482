/** The thread of the key worker: its startup and its messages. */
import type { MessagePort } from 'node:worker_threads';
import { systemClock } from '../../clock.ts';
import type { SampleVerdict } from '../../keys/evidence-suite.ts';
import { Generator, type GeneratorSources } from '../../keys/generator.ts';
import { Latch } from '../../keys/latch.ts';
import { PlainGenerator } from '../../keys/plain-generator.ts';
import { requireSelfTests } from '../../keys/self-test.ts';
import {
  type ClockReading,
  mayPass,
  openStore,
  type Quotas,
  type StoreLocation,
} from '../../ledger/index.ts';
import type { MasterSecret } from '../../proof/index.ts';
import { takeSecret } from '../secret/versions.ts';
import { KeyWorker } from './key-worker.ts';
import type {
  ClockRead,
  DatabaseMoved,
  EvidenceSample,
  KeyWorkerMessage,
  LogBinding,
  PackedBatch,
  Pong,
  RetirementsRead,
  UnvouchedKeys,
  VerdictNoted,
  WorkerReady,
} from './messages.ts';
import { packReply, unpackBatch } from './packed-batches.ts';
import { PendingAnswers, runThread, threadData } from './run-thread.ts';

export interface KeyWorkerData {
  readonly store: StoreLocation;
  readonly quotas: Quotas;
  readonly sources: GeneratorSources;
  readonly secret: MasterSecret;
  /** Memory of the `Latch`. */
  readonly latch: SharedArrayBuffer;
  /** The open log; null without one. */
  readonly log: LogBinding | null;
}

/** The suite, run by a suite worker. Only one sample is judged at a time. */
class RemoteSuite {
  readonly #port: MessagePort;
  #answer: ((verdict: SampleVerdict) => void) | undefined;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  judge(sample: Uint8Array<ArrayBuffer>, answer: (verdict: SampleVerdict) => void): void {
    this.#answer = answer;
    this.#port.postMessage({ sample } satisfies EvidenceSample, [sample.buffer]);
  }

  settle(verdict: SampleVerdict): void {
    this.#answer?.(verdict);
    this.#port.postMessage({ verdictNoted: true } satisfies VerdictNoted);
  }
}

async function start(port: MessagePort): Promise<void> {
  requireSelfTests();
  const data = await threadData<KeyWorkerData>();
  const keyring = takeSecret(data.secret);
  const store = await openStore(data.store, data.quotas, undefined, (databaseHost) =>
    port.postMessage({ databaseHost } satisfies DatabaseMoved),
  );
  const latch = new Latch(data.latch);
  const generator = Generator.start(data.sources, latch, {
    onWarning: (warning) => port.postMessage(warning),
  });
  const suite = new RemoteSuite(port);
  const plain = new PlainGenerator(generator, (sample, answer) => suite.judge(sample, answer));
  const worker = new KeyWorker(plain, keyring, store, data.log, (retiredVersions) =>
    port.postMessage({ retiredVersions } satisfies RetirementsRead),
  );
  let isReported = false;
  const reportUnvouched = (): void => {
    if (isReported || !latch.read()) return;
    isReported = true;
    const { lastGoodMs } = plain;
    const unvouchedKeys = plain.unvouchedKeys();
    port.postMessage({ unvouchedKeys, lastGoodMs } satisfies UnvouchedKeys);
  };
  // The main thread listens from its first message on. Earlier messages would be lost.
  port.once('message', () => void latch.whenSet().then(reportUnvouched));
  const pending = new PendingAnswers();
  const check = (): void => {
    plain.refresh();
    // Runs beside the batches: neither may delay the other.
    void worker.checkLedger().then((report) => port.postMessage(report));
    const read = (clock: ClockReading) => port.postMessage({ clock } satisfies ClockRead);
    store.readClock(systemClock).then(read, () => {});
  };
  const answer = async (batch: PackedBatch): Promise<void> => {
    const reply = packReply(await worker.run(unpackBatch(batch)));
    port.postMessage(reply, [reply.keys.secrets]);
  };
  const close = async (): Promise<void> => {
    await pending.sent();
    // A thread may hear of the latch late, and later than of its end.
    reportUnvouched();
    generator.close();
    keyring.destroy();
    await store.close();
    port.close();
  };
  port.on('message', (message: KeyWorkerMessage) => {
    if (message === 'ping') port.postMessage({ pong: true } satisfies Pong);
    else if (message === 'check') check();
    else if (message === 'close') void close();
    else if ('damage' in message) worker.condemn(message.damage);
    else if ('gate' in message) suite.settle(message);
    else {
      pending.add(answer(message));
    }
  });
  const status = generator.status();
  port.postMessage({ kind: 'ready', status, warnings: [] } satisfies WorkerReady);
}

void runThread(start, mayPass);
