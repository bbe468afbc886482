/**
 * Loaded before each test file (`--import`): hundreds of processes start from the same sources, and each finds
 * what an earlier one compiled. This file is JavaScript because TypeScript would be stripped anew in every process,
 * before there is a cache.
 */
import { enableCompileCache } from 'node:module';
import { resolve } from 'node:path';

/** Not in the folder for temporary files, where others may put code by this name. */
export const COMPILE_CACHE = resolve(import.meta.dirname, '../../../build/test-compile-cache');

enableCompileCache(COMPILE_CACHE);
