/** Takes draws from a pool until its source is closed. Each draw is one number repeated. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Pool, PooledSource } from '../../src/entropy/pool.ts';
import { AppError } from '../../src/errors.ts';

const source = new PooledSource(workerData as Pool);
while (source.status().detail !== 'the source is closed') {
  try {
    const { bytes } = source.draw();
    const numbers = new Set(Array.from({ length: 8 }, (_, i) => bytes.readUInt32BE(i * 4)));
    // A torn draw would hold two numbers. No draw holds 0.
    parentPort?.postMessage(numbers.size === 1 ? [...numbers][0] : 0);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}
