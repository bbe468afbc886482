/** A module that `--import` loads into a server: each SIGUSR2 ends its next thread. */
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
