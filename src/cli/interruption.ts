/** The end of a long command before its time: Ctrl-C, SIGTERM, or an output that nobody reads. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CommandError } from './command-error.ts';

/** Why a run is aborted, as the message says it. */
export const OUTPUT_GONE = 'the output cannot be written';

/**
 * Runs `work` with a signal that Ctrl-C or SIGTERM sets off, or an output that nobody reads any more (as with
 * `| head`). A second Ctrl-C ends the process.
 */
export async function untilInterrupted(
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const interrupt = (): void => controller.abort('interrupted');
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  // Stays for good: the error of a write comes after it, perhaps when the command has ended.
  process.stdout.on('error', () => controller.abort(OUTPUT_GONE));
  try {
    const failure = await work(controller.signal).catch((error: unknown) => ({ error }));
    // The last write may fail, too.
    await nextTurn();
    const { reason } = controller.signal;
    if (reason === OUTPUT_GONE || (failure && failure.error === reason)) {
      throw new CommandError(reason, 1);
    }
    if (failure) throw failure.error;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}
