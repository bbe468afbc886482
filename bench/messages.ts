/**
 * Measures the messages between the main thread and the key worker, for each plain key: a batch and its reply as
 * objects, with a buffer for each key, against the packed form.
 *
 *   node bench/messages.ts [--keys N] [--rounds N] [--save]
 *
 * One thread sends and receives, so a figure is the work of both sides. Figures are medians of rounds in which both forms
 * take turns, of the processor time of the process, which includes the helper threads of the garbage collector. The
 * time to wake a thread is not in them.
 */
import { parseArgs } from 'node:util';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { wipeKey } from '../src/keys/key-receipt.ts';
import type {
  KeyBatch,
  KeyBatchReply,
  KeyTask,
  KeyTaskResult,
} from '../src/service/threads/messages.ts';
import {
  packBatch,
  packReply,
  unpackBatch,
  unpackReply,
} from '../src/service/threads/packed-batches.ts';
import { order, plainKey } from '../test/support/servers/fakes.ts';
import { machine, median, saveResult } from './results.ts';

const BATCHES = 200;
const WARM_UP_ROUNDS = 5;

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '15' },
    save: { type: 'boolean', default: false },
  },
});
const keys = Number(values.keys);
const rounds = Number(values.rounds);
const { port1, port2 } = new MessageChannel();

function sent<T>(message: T, transfer: ArrayBuffer[] = []): T {
  port1.postMessage(message, transfer);
  return receiveMessageOnPort(port2)?.message as T;
}

function task(atMs: number): KeyTask {
  return {
    kind: 'generate',
    requester: { accountId: 'acct_0123456789abcdef', apiKeyId: 'key_0123456789abcdef', atMs },
    order: order({ acceptedMs: atMs + 0.25 }),
    idempotency: null,
  };
}

function result(used: number): KeyTaskResult {
  const key = plainKey({
    keyId: `phm_2170303464402613943413${used}`,
    hashProof: `proof_${'7'.repeat(77)}${used}`,
    latencyMs: 1.25 + used,
    key: Buffer.from(new ArrayBuffer(32)),
  });
  const usage = { month: 24_322, used, quota: 1_000_000 };
  return {
    kind: 'generated',
    createdMs: 1_764_000_000_000 + used,
    keys: [key],
    usage,
    failures: 0,
  };
}

const each = <T>(make: (i: number) => T): T[] => Array.from({ length: keys }, (_, i) => make(i));
const batch: KeyBatch = { id: 1, tasks: each(task), failures: [] };

function reply(): KeyBatchReply {
  const status = { reseeds: 1, strengthBits: 256, latched: null, sources: [] };
  const commit = { startMs: 1.5, endMs: 2.5, failure: null, keys };
  return {
    id: 1,
    results: each(result),
    failuresRecorded: true,
    commit,
    status,
    awaitsVerdict: false,
  };
}

/** Wipes the keys that arrived, as the receiver does. */
function drop({ results }: KeyBatchReply): void {
  for (const one of results) if (one.kind === 'generated') one.keys.forEach(wipeKey);
}

function bufferOfEach({ results }: KeyBatchReply): ArrayBuffer[] {
  return results.flatMap((one) =>
    one.kind === 'generated' ? one.keys.map(({ key }) => key.buffer as ArrayBuffer) : [],
  );
}

const works = new Map<string, () => void>([
  ['batch as objects', () => sent(batch)],
  ['batch packed', () => unpackBatch(sent(packBatch(batch)))],
  ['results made and wiped', () => drop(reply())],
  [
    'reply as objects',
    () => {
      const made = reply();
      drop(sent(made, bufferOfEach(made)));
    },
  ],
  [
    'reply packed',
    () => {
      const packed = packReply(reply());
      drop(unpackReply(sent(packed, [packed.keys.secrets])));
    },
  ],
]);

/** Returns the processor time of one key in microseconds. */
function measure(work: () => void): number {
  const from = process.cpuUsage();
  for (let i = 0; i < BATCHES; i++) work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / BATCHES / keys;
}

const figures = new Map([...works.keys()].map((name) => [name, [] as number[]]));
for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
  for (const [name, work] of works) {
    const us = measure(work);
    if (round >= 0) figures.get(name)?.push(us);
  }
}
const lines = [...figures].map(([name, all]) => `${name.padEnd(24)} ${median(all).toFixed(2)} µs`);
const text = `${machine()}\n${keys} keys in a batch, ${rounds} rounds, a key:\n${lines.join('\n')}\n`;
process.stdout.write(text);
if (values.save) saveResult('messages', text);
port1.close();
