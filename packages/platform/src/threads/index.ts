/** Threads and processes without the environment of their program. */
export { COMPILE_CACHE_ENVIRONMENT } from './compile-cache.ts';
export { endThread, hasEnded, startThread } from './worker-thread.ts';
export { isWorkingDirectoryGone } from './working-directory.ts';
