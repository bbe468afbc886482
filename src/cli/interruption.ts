/** Ends a long command early: on Ctrl-C, on SIGTERM, or when its output has no reader. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CommandError } from './command-error.ts';

/** The reason for an aborted run, as the message states it. */
export const OUTPUT_GONE = 'the output cannot be written';

/**
 * Runs `work` with a signal that aborts on Ctrl-C, on SIGTERM, or when the reader of the output has gone (as with
 * `| head`). A second Ctrl-C ends the process.
 */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = (): void => controller.abort('interrupted');
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  // This listener stays, because the error of a write may arrive after the command has ended.
  process.stdout.on('error', () => controller.abort(OUTPUT_GONE));
  try {
    const [outcome] = await Promise.allSettled([work(controller.signal)]);
    // The last write may still fail, and Ctrl-C ends child processes before this process sees the signal.
    await nextTurn();
    const { aborted, reason } = controller.signal;
    if (reason === OUTPUT_GONE) throw new CommandError(OUTPUT_GONE, 1);
    if (outcome.status === 'fulfilled') return outcome.value;
    // A command that describes its early end itself keeps its message.
    if (aborted && !(outcome.reason instanceof CommandError)) throw new CommandError(reason, 1);
    throw outcome.reason;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}
