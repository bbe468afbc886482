/**
 * Loaded before each test file of a run (`--import`): gives it a temporary folder of its own below the run's, so that what
 * it leaves tells the file. Plain JavaScript for the reason that `compile-cache.mjs` gives.
 */
import { chmodSync, mkdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const { TEST_RUN_FOLDER: run, TMPDIR } = process.env;

// A thread or a program of a test has the file's folder already.
if (isMainThread && run !== undefined && TMPDIR === run && process.argv[1] !== undefined) {
  const file = relative(resolve(import.meta.dirname, '../..'), process.argv[1]);
  const folder = join(run, file.replace(/\.test\.ts$/, '').replaceAll(/[^\w.]+/g, '-'));
  mkdirSync(folder, { recursive: true });
  // The user that runs PostgreSQL for root goes through it.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
}
