/** Commands of the operator: words without a shell, a bounded time, and nothing of a key in arguments, environment or log. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A command that takes longer is ended: the agent itself ends within 20 seconds of SIGTERM. */
const MOST_MS = 15_000;

/** A program and its arguments. */
export type Words = readonly [string, ...string[]];

/**
 * Returns the words of a command line: they are separated by spaces, and `'…'` or `"…"` keeps spaces together. Nothing else has a
 * meaning: no variables, patterns, pipes or backslashes. Null for a quote without its end, and for no word.
 */
export function wordsOf(line: string): Words | null {
  const parts = /(?:[^\s'"]|'[^']*'|"[^"]*")+/g;
  if (line.replaceAll(parts, '').trim() !== '') return null;
  const [first, ...others] = (line.match(parts) ?? []).map((word) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'),
  );
  return first === undefined ? null : [first, ...others];
}

interface RunOptions {
  /** Its standard input. */
  readonly input?: Uint8Array;
  /** Where programs are looked for. It is all that the command gets of the environment, so that it sees no API key. */
  readonly path: string;
  readonly signal: AbortSignal;
  readonly mostMs?: number;
}

/**
 * Runs a command. Its outputs are dropped, because some programs quote a key that they refuse. Resolves with null if it exited
 * with code 0, and otherwise with the reason.
 */
export async function runCommand(
  words: Words,
  { input, path, signal, mostMs = MOST_MS }: RunOptions,
): Promise<string | null> {
  if (signal.aborted) return 'it was ended';
  const [program, ...args] = input === undefined ? words : behindPipe(words);
  const child = spawn(program, args, {
    stdio: [input === undefined ? 'ignore' : 'pipe', 'ignore', 'ignore'],
    env: { PATH: path },
    // A group of its own, which can be ended as a whole.
    detached: true,
  });
  const limited = AbortSignal.any([signal, AbortSignal.timeout(mostMs)]);
  const end = (): void => endGroup(child.pid);
  limited.addEventListener('abort', end, { once: true });
  // A command that does not read to the end fails by its exit code, if at all.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  try {
    const [code, by] = (await once(child, 'close')) as [number | null, string | null];
    if (limited.aborted) return signal.aborted ? 'it was ended' : `it took over ${mostMs} ms`;
    if (code === 0) return null;
    return code === null ? `it ended by ${by}` : `it exited with code ${code}`;
  } catch (error) {
    return `it cannot be started: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`;
  } finally {
    limited.removeEventListener('abort', end);
  }
}

/**
 * Node's own standard input of a child is a socket, and `/dev/stdin` cannot be opened then, as `wg` does. The shell makes a pipe of it,
 * and reads nothing of the words.
 */
function behindPipe(words: Words): Words {
  return ['/bin/sh', '-c', 'cat | "$@"', 'sh', ...words];
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
