/** Loaded by `--import` into a server: SIGUSR2 ends the next of its threads, one after the other. */
import { isMainThread, type Worker } from 'node:worker_threads';

const threads = new Set<Worker>();

if (isMainThread) {
  process.on('worker', (worker) => {
    threads.add(worker);
    worker.on('exit', () => threads.delete(worker));
  });
  process.on('SIGUSR2', () => {
    const [next] = threads;
    if (!next) return;
    threads.delete(next);
    void next.terminate();
  });
}
