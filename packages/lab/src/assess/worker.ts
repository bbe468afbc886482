/**
 * The work of a worker: runs the suite on one sequence at a time, then wipes it. Its first message is the kernels'
 * module, so that it loads no file.
 */
import {
  adoptKernelModule,
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

/** The answer to a job: its report, or why there is none. */
export type Answer = { readonly report: SuiteReport } | { readonly error: string };

/** Runs one job. Wipes the sequence, because it may be key material. */
export function work({ sequence, options }: Job): Answer {
  const { bytes, bits, offsetBits } = sequence;
  try {
    return { report: runPackedSuite(bytes, { bits, offsetBits, ...options }) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  } finally {
    bytes.fill(0);
  }
}

/** Serves the jobs that arrive at the worker's port. */
export function serve(): void {
  const port = platform().workerPort();
  port?.onMessage((message) => {
    const { kernels } = message as { readonly kernels?: object | null };
    if (kernels === undefined) port.postMessage(work(message as Job));
    else adoptKernelModule(kernels);
  });
}
