/**
 * The statistics worker thread: answers queries about an account's past on a separate connection, so that they delay
 * neither the key worker nor the main thread. It writes nothing and holds no secret.
 */

import { type MessagePort, workerData } from 'node:worker_threads';
import {
  type LedgerStore,
  openStore,
  type StoreLocation,
  unavailable,
} from '../../ledger/index.ts';
import { requireProgram } from '../../process/version.ts';
import { listKeys } from '../reading/key-list.ts';
import { judgeRandomness } from '../reading/randomness.ts';
import { toFailure } from './failures.ts';
import { lowerPriority, PendingAnswers, runThread } from './run-thread.ts';
import type {
  StatisticsMessage,
  StatisticsReply,
  StatisticsResult,
  StatisticsTask,
} from './statistics-messages.ts';
import { Turns } from './turns.ts';

export interface StatisticsWorkerData {
  readonly store: StoreLocation;
  /** `softwareName()` of the main thread. */
  readonly software: string;
}

/** The ledger: opened when the thread starts, and for the next query if that failed. */
class OpenedStore {
  readonly #location: StoreLocation;
  #store: Promise<LedgerStore> | null = null;

  constructor(location: StoreLocation) {
    this.#location = location;
  }

  /** Rejects with `ledger_unavailable` or `foreign_ledger`. */
  get(): Promise<LedgerStore> {
    // This thread commits nothing, so it needs no quotas.
    this.#store ??= openStore(this.#location, {}).catch((cause) => {
      this.#store = null;
      throw unavailable(cause);
    });
    return this.#store;
  }

  async close(): Promise<void> {
    const store = await this.#store?.catch(() => null);
    await store?.close();
  }
}

async function answer(opened: OpenedStore, task: StatisticsTask): Promise<StatisticsResult> {
  try {
    const store = await opened.get();
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
      case 'keys':
        return { kind: 'keys', page: await listKeys(store, task.query) };
      case 'key': {
        const { accountId, keyId } = task.query;
        return { kind: 'key', record: await store.findKeyRecord(accountId, keyId) };
      }
      case 'copies':
        return { kind: 'copies', page: await store.listCopies(task.query) };
      case 'delivery': {
        const { accountId, deliveryId, nowMs } = task.query;
        const record = await store.findDelivery(accountId, deliveryId, nowMs);
        return { kind: 'delivery', record };
      }
      case 'boxes': {
        const { boxes, nowMs } = task.asked;
        return { kind: 'boxes', found: await store.haveWaiting(boxes, nowMs) };
      }
      case 'size':
        return { kind: 'size', bytes: await store.sizeBytes() };
    }
  } catch (error) {
    return { kind: 'failed', failure: toFailure(error) };
  }
}

/** Queries that take some tens of milliseconds. With SQLite they block the thread. */
const LONG: readonly StatisticsTask['kind'][] = ['series', 'randomness', 'keys'];

/** Returns the buffers of p-values, which are transferred. */
function transferList(result: StatisticsResult): ArrayBuffer[] {
  if (result.kind !== 'randomness') return [];
  return result.randomness.rows.flatMap(({ pValues }) => (pValues ? [pValues.buffer] : []));
}

function start(port: MessagePort, { store: location, software }: StatisticsWorkerData): void {
  lowerPriority();
  requireProgram(software);
  const opened = new OpenedStore(location);
  opened.get().catch(() => {});
  const pending = new PendingAnswers();
  const turns = new Turns();
  port.on('message', (message: StatisticsMessage) => {
    if (message === 'close') {
      pending.sent().then(async () => {
        // It has written nothing, so nothing is lost if the database cannot be closed.
        await opened.close().catch(() => {});
        port.close();
      });
      return;
    }
    const { task } = message;
    const work = () => answer(opened, task);
    const answering = (LONG.includes(task.kind) ? turns.run(work) : work()).then((result) => {
      const reply: StatisticsReply = { id: message.id, result };
      port.postMessage(reply, transferList(result));
    });
    pending.add(answering);
  });
}

void runThread((port) => start(port, workerData as StatisticsWorkerData));
