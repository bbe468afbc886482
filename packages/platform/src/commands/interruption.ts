/** Ends a long command early: on Ctrl-C, on SIGTERM, or when its output has no reader. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { writeFailure } from '../files/durable-file.ts';
import { CommandError } from './command-error.ts';

/** The reason for an aborted run, as the message states it. */
export const OUTPUT_GONE = 'the output cannot be written';
const INTERRUPTED = 'interrupted';

/**
 * Runs `work` with a signal that aborts on Ctrl-C, on SIGTERM, or when the reader of the output has gone (as with
 * `| head`). A second Ctrl-C ends the process.
 */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = (): void => controller.abort(INTERRUPTED);
  let lost = OUTPUT_GONE;
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  // This listener stays, because the error of a write may arrive after the command has ended.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') lost = `${OUTPUT_GONE}: ${writeFailure(error)}`;
    controller.abort(OUTPUT_GONE);
  });
  try {
    const [outcome] = await Promise.allSettled([work(controller.signal)]);
    // The last write may still fail, and Ctrl-C ends child processes before this process sees the signal.
    await nextTurn();
    const { aborted, reason } = controller.signal;
    if (reason === OUTPUT_GONE) throw new CommandError(lost, 1);
    if (outcome.status === 'fulfilled') return outcome.value;
    // A command that describes its early end itself keeps its message.
    if (aborted && !(outcome.reason instanceof CommandError)) throw new CommandError(reason, 1);
    throw outcome.reason;
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

/**
 * Runs `work`, which writes without an end, as `untilInterrupted` does. Resolves when the reader of the output closes
 * it, or on Ctrl-C or SIGTERM: that is how this work ends.
 */
export async function untilStopped(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  try {
    await untilInterrupted(work);
  } catch (error) {
    const reason = error instanceof CommandError ? error.message : '';
    if (reason !== INTERRUPTED && reason !== OUTPUT_GONE) throw error;
  }
}
