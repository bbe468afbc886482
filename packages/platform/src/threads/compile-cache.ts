/** Passes the folder of compiled code (`main.ts`) to the threads and processes that this process starts. */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** A folder below the given one: Node creates one for each Node version and user. */
const folder = getCompileCacheDir();

/** The whole environment of these threads and processes. They get their configuration as data. */
export const COMPILE_CACHE_ENVIRONMENT: Readonly<Record<string, string>> =
  folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
