/** Threads and processes without the environment of their program. */
export { childEnvironment } from './compile-cache.ts';
export { endThread, hasEnded, newThread, startThread } from './worker-thread.ts';
export { isWorkingDirectoryGone } from './working-directory.ts';
