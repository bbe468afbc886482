/** Where Node keeps compiled code (`main.ts`), for the threads and processes that this one starts. */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/** The folder as it was given: Node makes one below it for each version of its own and each user. */
const folder = getCompileCacheDir();

/** All that they see of the environment: what they need of the configuration they are given. */
export const COMPILE_CACHE_ENVIRONMENT: Readonly<Record<string, string>> =
  folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
