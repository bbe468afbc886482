/** Gives back the memory that the start of a thread took. */

/**
 * Collects what the start of this thread has left in its heap, and gives the freed pages back to the operating system: a thread
 * that then waits would keep them for ever. Takes some tens of milliseconds of the thread, from its next turn on. Never rejects:
 * where Node has no inspector, or forbids it, the memory stays.
 */
export async function releaseStartMemory(): Promise<void> {
  try {
    // Of Node's interfaces only this one reaches V8's collection for low memory; all others keep the pages for what may come.
    // The session is within this thread: nothing listens.
    const { Session } = await import('node:inspector/promises');
    const session = new Session();
    session.connect();
    await session.post('HeapProfiler.collectGarbage');
    session.disconnect();
  } catch {
    // A server without it is only larger.
  }
}
