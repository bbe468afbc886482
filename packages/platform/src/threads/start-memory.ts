/** Gives back the memory that the start of a thread took. */
import { performance } from 'node:perf_hooks';

/** A thread that ends before, such as that of a command or of a short test, needs no collection. */
const PAUSE_MS = 5_000;
/** Share of its time that a thread works. One that works more would stop in the middle of that, and fill the pages again. */
const BUSY = 0.1;

/**
 * Collects what the start of this thread has left in its heap, and gives the freed pages back to the operating system: a thread
 * that then waits would keep them for ever. It does so once, after the first pause of `pauseMs` in which the thread had little
 * to do, and takes some tens of milliseconds of it. Where Node has no inspector, or forbids it, the memory stays.
 */
export function releaseStartMemory(pauseMs = PAUSE_MS): void {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > BUSY) return;
    clearInterval(timer);
    void collect();
  }, pauseMs);
  timer.unref();
}

async function collect(): Promise<void> {
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
