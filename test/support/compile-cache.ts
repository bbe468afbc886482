/**
 * Loaded before each test file (`--import`): hundreds of processes are started from the same sources,
 * and what was compiled for one is there for the next.
 */
import { enableCompileCache } from 'node:module';
import { resolve } from 'node:path';

/** Not in the folder for temporary files, where others may put code by this name. */
export const COMPILE_CACHE: string = resolve(import.meta.dirname, '../../build/test-compile-cache');

enableCompileCache(COMPILE_CACHE);
