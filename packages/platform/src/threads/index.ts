/** Threads and processes without the environment of their program, and without warnings that tell nobody anything. */
export { childEnvironment } from './compile-cache.ts';
export { dropWebCryptoWarnings } from './experimental-warnings.ts';
export { releaseStartMemory } from './start-memory.ts';
export { endThread, hasEnded, newThread, startThread } from './worker-thread.ts';
export { isWorkingDirectoryGone } from './working-directory.ts';
