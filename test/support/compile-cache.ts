/**
 * Loaded before each test file (`--import`): hundreds of processes are started from the same sources,
 * and what was compiled for one is there for the next.
 */
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const COMPILE_CACHE: string = join(tmpdir(), 'phm-test-compile-cache');

enableCompileCache(COMPILE_CACHE);
