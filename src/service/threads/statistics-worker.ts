/**
 * The statistics worker thread: answers queries about an account's past on a separate connection, so that they delay
 * neither the key worker nor the main thread. It writes nothing and holds no secret.
 */
import { type MessagePort, workerData } from 'node:worker_threads';
import { type LedgerStore, mayPass, openStore, type StoreLocation } from '../../ledger/index.ts';
import {
  type StatisticsMessage,
  type StatisticsReply,
  type StatisticsResult,
  type StatisticsTask,
  toFailure,
  type WorkerUp,
} from '../messages.ts';
import { judgeRandomness } from '../randomness.ts';
import { lowerPriority, PendingAnswers, runThread } from './run-thread.ts';

export interface StatisticsWorkerData {
  readonly store: StoreLocation;
}

async function answer(store: LedgerStore, task: StatisticsTask): Promise<StatisticsResult> {
  try {
    switch (task.kind) {
      case 'activity': {
        const { accountId, sinceMs } = task.query;
        return { kind: 'activity', activity: await store.activity(accountId, sinceMs) };
      }
      case 'series':
        return { kind: 'series', sums: await store.series(task.query) };
      case 'randomness': {
        const { accountId, keys, withPValues } = task.query;
        const evidence = await store.keyEvidence(accountId, keys);
        return { kind: 'randomness', randomness: judgeRandomness(evidence, withPValues) };
      }
    }
  } catch (error) {
    return { kind: 'failed', failure: toFailure(error) };
  }
}

/** Returns the buffers of p-values, which are transferred. */
function transferList(result: StatisticsResult): ArrayBuffer[] {
  if (result.kind !== 'randomness') return [];
  return result.randomness.rows.flatMap(({ pValues }) => (pValues ? [pValues.buffer] : []));
}

async function start(port: MessagePort, { store: location }: StatisticsWorkerData): Promise<void> {
  lowerPriority();
  // This thread commits nothing, so it needs no quotas.
  const store = await openStore(location, {});
  const pending = new PendingAnswers();
  port.on('message', (message: StatisticsMessage) => {
    if (message === 'close') {
      pending.sent().then(async () => {
        await store.close();
        port.close();
      });
      return;
    }
    const answering = answer(store, message.task).then((result) => {
      const reply: StatisticsReply = { id: message.id, result };
      port.postMessage(reply, transferList(result));
    });
    pending.add(answering);
  });
  port.postMessage({ kind: 'ready' } satisfies WorkerUp);
}

void runThread((port) => start(port, workerData as StatisticsWorkerData), mayPass);
