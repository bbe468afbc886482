/** A worker thread of `phm assess`: runs the suite on one sequence at a time, and wipes it. */
import { parentPort } from 'node:worker_threads';
import { wipe } from '../bytes.ts';
import { runSuite, type SuiteReport, unpackBits } from '../sts/index.ts';
import type { AssessJob } from './assess-pool.ts';

function work({ sequence, constants, only }: AssessJob): SuiteReport {
  // The file may be key material.
  const bits = unpackBits(sequence.bytes, sequence.bits, sequence.offsetBits);
  wipe(sequence.bytes);
  try {
    return runSuite(bits, { constants, only });
  } finally {
    wipe(bits);
  }
}

parentPort?.on('message', (job: AssessJob) => parentPort?.postMessage(work(job)));
