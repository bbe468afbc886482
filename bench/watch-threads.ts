/**
 * Records garbage collection, event-loop delay and memory in each thread of a server. `ServerWatch` (server-watch.ts) preloads it
 * with `--import`; the product does not know it.
 *
 * The main thread takes orders from the bench over IPC and passes them to the other threads. `reset` begins a new record,
 * `report` sends a `ThreadReport` of each thread.
 */
import { syncBuiltinESMExports } from 'node:module';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import v8 from 'node:v8';
import workerThreads, { BroadcastChannel, isMainThread, threadName } from 'node:worker_threads';
import type { Order, ThreadMemory, ThreadReport } from './server-watch.ts';

const NS_PER_MS = 1e6;

let pauses: number[] = [];
const collections = new PerformanceObserver((list) => {
  pauses.push(...list.getEntries().map(({ duration }) => duration));
});
collections.observe({ entryTypes: ['gc'] });

/**
 * Milliseconds from one sample of the loop to the next. `samplePerIteration` would need no timer, but in Node 26 it
 * misses callbacks that run while the loop polls, such as messages from other threads.
 */
const SAMPLE_MS = 2;

const loop = monitorEventLoopDelay({ resolution: SAMPLE_MS });
loop.enable();

const channel = new BroadcastChannel('bench-watch');
channel.unref();

function obey(order: Order): void {
  if (order === 'report') send(report());
  pauses = [];
  loop.reset();
}

function report(): ThreadReport {
  pauses.push(...collections.takeRecords().map(({ duration }) => duration));
  return {
    thread: threadName || 'main',
    pauses: pauses.length,
    pausedMs: pauses.reduce((sum, ms) => sum + ms, 0),
    longestPauseMs: Math.max(0, ...pauses),
    delayP99Ms: delayOf(loop.percentile(99)),
    longestDelayMs: delayOf(loop.max),
    memory: memory(),
  };
}

const MIB = 2 ** 20;

function memory(): ThreadMemory {
  const { heapUsed, heapTotal, external } = process.memoryUsage();
  const young = v8.getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  const code = v8.getHeapCodeStatistics();
  return {
    usedMiB: heapUsed / MIB,
    committedMiB: heapTotal / MIB,
    youngMiB: (young?.space_size ?? 0) / MIB,
    externalMiB: external / MIB,
    codeMiB: (code.code_and_metadata_size + code.bytecode_and_metadata_size) / MIB,
  };
}

/** Returns how late a sample was, from the nanoseconds since the sample before it. */
function delayOf(intervalNs: number): number {
  return Math.max(0, intervalNs / NS_PER_MS - SAMPLE_MS);
}

function send(one: ThreadReport): void {
  if (isMainThread) process.send?.(one);
  else channel.postMessage(one);
}

/** Makes all threads that this process starts load this module: their environment lacks NODE_OPTIONS. */
function watchNewThreads(): void {
  const { NODE_OPTIONS } = process.env;
  workerThreads.Worker = class extends workerThreads.Worker {
    constructor(...[file, options]: ConstructorParameters<typeof workerThreads.Worker>) {
      super(file, { ...options, env: { ...(options?.env as object), NODE_OPTIONS } });
    }
  };
  syncBuiltinESMExports();
}

if (isMainThread) {
  watchNewThreads();
  process.on('message', (order: Order) => {
    channel.postMessage(order);
    obey(order);
  });
  // A bench that is killed leaves no server behind.
  process.on('disconnect', () => process.exit());
  // The server may end while the bench still listens.
  process.channel?.unref();
}
channel.onmessage = ({ data }: { data: unknown }) => {
  if (typeof data === 'string') obey(data as Order);
  else if (isMainThread) send(data as ThreadReport);
};
