/** Gives back the memory that the start of a thread took. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Collects what the start of this thread has left in its heap, and gives the freed pages back to the operating system: a thread
 * that then waits would keep them for ever. Takes some tens of milliseconds, in which the thread does nothing else.
 */
export function releaseStartMemory(): void {
  // V8 has this call only in contexts that are made while the flag is set. The contexts of the program do not get it.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  // A collection of any other kind keeps the pages for what may come.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
