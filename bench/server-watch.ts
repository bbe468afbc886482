/** Garbage collection, event-loop delay and memory of a server's threads, as the bench asks for them. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

/** Node's options for a process that is watched. */
export const WATCH_OPTIONS: string = `--import=${new URL('watch-threads.ts', import.meta.url)}`;

/** Threads answer in the next turn of their loop. */
const ANSWER_MS = 200;

export type Order = 'reset' | 'report';

/** What a thread holds at the time of its report. */
export interface ThreadMemory {
  readonly usedMiB: number;
  /** Pages of the heap, used or not. */
  readonly committedMiB: number;
  /** Those of them that are for new objects. */
  readonly youngMiB: number;
  /** Buffers and strings outside the heap. */
  readonly externalMiB: number;
  /** Machine code, bytecode and what belongs to them, within the heap. */
  readonly codeMiB: number;
}

/** What one thread did since the last order. */
export interface ThreadReport {
  /** `main`, or the name of a worker thread; several suite workers share a name. */
  readonly thread: string;
  /** Pauses for garbage collection of any kind. */
  readonly pauses: number;
  readonly pausedMs: number;
  readonly longestPauseMs: number;
  /** Time by which a timer of 2 ms is late. */
  readonly delayP99Ms: number;
  readonly longestDelayMs: number;
  readonly memory: ThreadMemory;
}

/** Asks a process with the preloaded module `watch-threads.ts` for its reports. */
export class ServerWatch {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    // The bench may end while the server still runs.
    child.channel?.unref();
  }

  reset(): void {
    this.#child.send('reset' satisfies Order);
  }

  /** Returns the reports since `reset` of all threads that answer in time. */
  async report(): Promise<readonly ThreadReport[]> {
    const reports: ThreadReport[] = [];
    const take = (one: unknown) => reports.push(one as ThreadReport);
    this.#child.on('message', take);
    this.#child.send('report' satisfies Order);
    await delay(ANSWER_MS);
    this.#child.off('message', take);
    return reports;
  }
}
