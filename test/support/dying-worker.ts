/** Loaded by `--import` into a server: its threads die once a file is there. */
import { existsSync } from 'node:fs';

const file = new URL(import.meta.url).searchParams.get('when') ?? '';

process.on('worker', (worker) => {
  setInterval(() => {
    if (existsSync(file)) void worker.terminate();
  }, 20).unref();
});
