/** A worker thread of `phm assess-entropy --iid`: makes permutations of the samples it was started with. */

import { parentPort, workerData } from 'node:worker_threads';
import { type PermutationJob, Permuter } from '../../../sp800-90b/src/index.ts';

const samples: Uint8Array = workerData;
const permuter = new Permuter(samples);

parentPort?.on('message', (message: PermutationJob | 'close') => {
  if (message !== 'close') {
    parentPort?.postMessage(permuter.run(message));
    return;
  }
  permuter.wipe();
  samples.fill(0);
  parentPort?.close();
});
