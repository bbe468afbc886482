/** A worker thread of `phm assess`: runs the suite on one sequence at a time, then wipes it. */
import { parentPort } from 'node:worker_threads';
import { runPackedSuite, type SuiteReport } from '#sp800-22';
import { wipe } from '../../bytes.ts';
import type { AssessJob } from './worker-pool.ts';

function work({ sequence, constants, only }: AssessJob): SuiteReport {
  const { bytes, bits, offsetBits } = sequence;
  try {
    return runPackedSuite(bytes, { bits, offsetBits, constants, only });
  } finally {
    // The input may be key material.
    wipe(bytes);
  }
}

parentPort?.on('message', (job: AssessJob) => parentPort?.postMessage(work(job)));
