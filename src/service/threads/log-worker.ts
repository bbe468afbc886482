/**
 * The log worker thread: runs the transparency log on a connection of its own, so that turns, proofs and witnesses
 * delay neither the key worker nor the main thread. It holds the log's signing keys and the subkeys for the MACs of
 * entries, but not the master secret.
 */

import { type MessagePort, workerData } from 'node:worker_threads';
import { wipe } from '../../bytes.ts';
import { mayPass, openStore } from '../../ledger/index.ts';
import { LogMacKeys } from '../../proof/index.ts';
import { assembleLog, type LogWorkerData } from '../log/assemble.ts';
import { newAudit } from '../log/audit-record.ts';
import type { LogEngine } from '../log/engine.ts';
import type { LogMessage, LogReply, LogResult, LogTask } from '../log/notices.ts';
import { toFailure } from './failures.ts';
import type { WorkerUp } from './messages.ts';
import { PendingAnswers, runThread } from './run-thread.ts';

async function answer(engine: LogEngine, task: LogTask): Promise<LogResult> {
  try {
    switch (task.kind) {
      case 'receipt': {
        const { keyId, holder, waitMs } = task;
        return { kind: 'answer', answer: await engine.receipt(keyId, holder, waitMs) };
      }
      case 'tile':
        return { kind: 'answer', answer: await engine.tile(task.level, task.index, task.width) };
      case 'entries':
        return { kind: 'answer', answer: await engine.entries(task.index, task.width) };
    }
  } catch (error) {
    return { kind: 'failed', failure: toFailure(error) };
  }
}

async function start(port: MessagePort, data: LogWorkerData): Promise<void> {
  const macs = new LogMacKeys(data.macKeys);
  wipe(...data.macKeys.map(({ subkey }) => subkey));
  // This thread commits no requests, so it needs no quotas.
  const store = await openStore(data.store, {});
  const post = (reply: LogReply) => port.postMessage(reply);
  const engine = assembleLog(store, macs, data, post);
  const pending = new PendingAnswers();
  const maker = { log: data.log, macs, version: data.version };
  port.on('message', (message: LogMessage) => {
    if (message === 'recorded') engine.recorded();
    else if (message === 'close') {
      engine
        .close()
        .then(() => pending.sent())
        .then(() => store.close())
        .then(() => {
          macs.destroy();
          port.close();
        });
    } else if ('damage' in message) engine.condemn(message.damage);
    else if ('audit' in message) {
      const { audit: action, details } = message;
      const record = newAudit(maker, { atMs: Date.now(), action, details });
      const added = store.addAudit(record).then(() => engine.recorded());
      pending.add(added.catch((error) => post(notRecorded(error))));
    } else {
      const { id, task } = message;
      pending.add(answer(engine, task).then((result) => post({ id, result })));
    }
  });
  port.postMessage({ kind: 'ready' } satisfies WorkerUp);
  engine.start();
}

function notRecorded(error: unknown): LogReply {
  return { kind: 'audit_lost', reason: toFailure(error).reason };
}

void runThread((port) => start(port, workerData as LogWorkerData), mayPass);
