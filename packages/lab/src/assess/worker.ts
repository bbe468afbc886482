/**
 * The work of a worker: runs the suite on one sequence at a time, then wipes it. Its first message is the kernels'
 * module, so that it loads no file.
 */
import {
  adoptKernelModule,
  type LongStreamReport,
  runLongStream,
  runPackedSuite,
  type SuiteOptions,
  type SuiteReport,
} from '../../../sp800-22/src/index.ts';
import type { InputSequence } from '../input/reader.ts';
import { platform } from '../platform.ts';

export interface Job {
  readonly sequence: InputSequence;
  readonly options: SuiteOptions;
}

/** A stream to test. The worker owns its bytes. */
export interface StreamJob {
  readonly stream: Uint8Array<ArrayBuffer>;
}

/** The answer to a job: its report, or why there is none. */
export type Answer<Report = SuiteReport | LongStreamReport> =
  | { readonly report: Report }
  | { readonly error: string };

/** Runs one job. Wipes the bits, because they may be key material. */
export function work(job: Job | StreamJob): Answer {
  const bytes = bytesOf(job);
  try {
    if ('stream' in job) return { report: runLongStream(bytes) };
    const { sequence, options } = job;
    const { bits, offsetBits } = sequence;
    return { report: runPackedSuite(bytes, { bits, offsetBits, ...options }) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  } finally {
    bytes.fill(0);
  }
}

export function bytesOf(job: Job | StreamJob): Uint8Array<ArrayBuffer> {
  return 'stream' in job ? job.stream : job.sequence.bytes;
}

/** Serves the jobs that arrive at the worker's port, until it gets `close`. */
export function serve(): void {
  const port = platform().workerPort();
  port?.onMessage((message) => {
    if (message === 'close') {
      port.close();
      return;
    }
    const { kernels } = message as { readonly kernels?: object | null };
    if (kernels === undefined) port.postMessage(work(message as Job | StreamJob));
    else adoptKernelModule(kernels);
  });
}
