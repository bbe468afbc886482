/** The end of a long command before its time: Ctrl-C, SIGTERM, or an output that nobody reads. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CommandError } from './command-error.ts';

/** Why a run is aborted, as the message says it. */
export const OUTPUT_GONE = 'the output cannot be written';

/**
 * Runs `work` with a signal that Ctrl-C or SIGTERM sets off, or an output that nobody reads any more (as with
 * `| head`). A second Ctrl-C ends the process.
 */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = (): void => controller.abort('interrupted');
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  // Stays for good: the error of a write comes after it, perhaps when the command has ended.
  process.stdout.on('error', () => controller.abort(OUTPUT_GONE));
  try {
    const [outcome] = await Promise.allSettled([work(controller.signal)]);
    // The last write may fail, too; and Ctrl-C ends child processes before this one hears of it.
    await nextTurn();
    const { aborted, reason } = controller.signal;
    if (reason === OUTPUT_GONE) throw new CommandError(OUTPUT_GONE, 1);
    if (outcome.status === 'fulfilled') return outcome.value;
    // A command that has words of its own for its early end keeps them.
    if (aborted && !(outcome.reason instanceof CommandError)) throw new CommandError(reason, 1);
    throw outcome.reason;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}
