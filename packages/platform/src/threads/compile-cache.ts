/** Passes the folder of compiled code to the threads and processes that this process starts. */
import module from 'node:module';
import { dirname } from 'node:path';

/**
 * Returns the whole environment of these threads and processes. They get their configuration as data. The program enables the
 * cache before it starts one.
 */
export function childEnvironment(): Readonly<Record<string, string>> {
  // A folder below the given one: Node creates one for each Node version and user. Node 20 has no such cache.
  const folder = module.getCompileCacheDir?.();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
