/** Loaded into a server by `--import`: its threads die once a file exists. */
import { existsSync } from 'node:fs';

const file = new URL(import.meta.url).searchParams.get('when') ?? '';

process.on('worker', (worker) => {
  setInterval(() => {
    if (existsSync(file)) void worker.terminate();
  }, 20).unref();
});
