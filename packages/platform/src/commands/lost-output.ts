/** What a program does if its standard output takes no more. */
import { writeFailure } from '../files/durable-file.ts';

interface Loss {
  /** Says why data is lost. */
  readonly say: (reason: string) => void;
  /** The exit code then. */
  readonly code: () => number;
  /** Reports whether the command no longer needs the reader of its output. */
  readonly isLeft?: () => boolean;
}

/** The exit code after SIGPIPE, as shells write it. */
const AFTER_SIGPIPE = 141;

/**
 * Data that is lost fails the command. If a reader such as head closes the pipe, the command exits
 * with 141, as after SIGPIPE. A command that failed before keeps its code, and so does
 * one that noticed the loss itself (`interruption.ts`).
 */
export function failOnLostOutput({ say, code, isLeft = () => false }: Loss): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.once('exit', (exitCode) => {
      if (exitCode !== 0) return;
      if (error.code === 'EPIPE') {
        if (!isLeft()) process.exitCode = AFTER_SIGPIPE;
        return;
      }
      say(`the output cannot be written: ${writeFailure(error)}`);
      process.exitCode = code();
    });
  });
}
