/**
 * Runs the command of `PHM_MASTER_KEY_COMMAND`, which writes the master secret to its standard output.
 *
 * The shell runs it in a process group of its own, without standard input. Time and output are limited. Its standard
 * error may be shown to the operator, but without anything that its standard output holds. The command line is never
 * shown: it may hold a credential.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { wipe } from '../bytes.ts';
import type { MasterSecretOrigin } from '../config/index.ts';
import { SetupError } from '../errors.ts';

export type SecretCommand = Extract<MasterSecretOrigin, { kind: 'command' }>;

const LIMIT_MS = 60_000;
const MAX_OUTPUT_BYTES = 65_536;

/** Length of the text from standard error that the operator sees. */
const MAX_SAID = 1_000;

/** Exit codes of a shell that cannot run the command. A wait does not help. */
const NOT_RUN = [126, 127];

/** Shorter words of the output are no secrets. */
const MIN_HIDDEN = 8;

const BY_HAND = 'run the command by hand, as the user of the server and with its environment';

/** What a command has written and how it ended. */
interface Run {
  readonly output: Buffer;
  readonly said: string;
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it was stopped; null if it ended by itself. `held`: a process that it started keeps its output open. */
  readonly stopped: 'late' | 'held' | 'long' | null;
}

/**
 * Returns what the command wrote, which the caller MUST wipe. Passes its standard error to `say`. Throws `SetupError`,
 * which may pass: the network of a secret store may not be up yet.
 */
export async function runSecretCommand(
  { command, env, say }: SecretCommand,
  limitMs: number = LIMIT_MS,
): Promise<Buffer> {
  const run = await runShell(command, env, limitMs);
  const failure = failureOf(run, limitMs);
  if (failure) {
    wipe(run.output);
    throw failure;
  }
  if (run.said !== '') say(run.said);
  return run.output;
}

function failureOf({ said, code, signal, stopped }: Run, limitMs: number): SetupError | null {
  const name = 'PHM_MASTER_KEY_COMMAND';
  const its = said === '' ? ', and said nothing' : `, and said: ${said}`;
  if (stopped === 'long') {
    return new SetupError(
      `${name} wrote more than ${MAX_OUTPUT_BYTES} bytes, so it was stopped: it must write the master secret alone`,
    );
  }
  const passing = { mayPass: !NOT_RUN.includes(code ?? 0), awaits: 'the master secret' } as const;
  if (stopped === 'late') {
    const text = `${name} did not end within ${limitMs / 1000} s, so it was stopped${its}; ${BY_HAND}`;
    return new SetupError(text, passing);
  }
  if (stopped === 'held') {
    return new SetupError(
      `${name} ended, but for ${limitMs / 1000} s a process that it started kept its output open${its}; start ` +
        'that process with >/dev/null 2>&1',
      passing,
    );
  }
  if (code === 0) return null;
  const how = code === null ? `was ended by ${signal}` : `failed with exit code ${code}`;
  return new SetupError(`${name} ${how}${its}; ${BY_HAND}`, passing);
}

async function runShell(
  command: string,
  env: Readonly<Record<string, string>>,
  limitMs: number,
): Promise<Run> {
  const isGroup = process.platform !== 'win32';
  const start = () =>
    spawn(command, {
      shell: true,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: isGroup,
      windowsHide: true,
    });
  const { child, release } = startBound(start, isGroup);
  let stopped: Run['stopped'] = null;
  const stop = (why: Run['stopped']): void => {
    stopped ??= why;
    kill(child, isGroup);
    // A process in a session of its own outlives the group, and may keep the pipes open.
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const output = collect(child.stdout, () => stop('long'));
  const said = collectEnd(child.stderr);
  const timer = setTimeout(() => stop(hasEnded(child) ? 'held' : 'late'), limitMs);
  try {
    const { code, signal } = await ended(child);
    const all = output.take();
    const text = shownText(said.take(), all);
    return { output: all, said: text, code, signal, stopped };
  } finally {
    clearTimeout(timer);
    release();
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Resolves when the process has ended and its pipes are closed. Rejects with `SetupError` if there is no shell. */
function ended(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.once('error', ({ message }) =>
      reject(new SetupError(`PHM_MASTER_KEY_COMMAND needs a shell: ${message}`)),
    );
  });
}

/** Gathers at most `MAX_OUTPUT_BYTES`, and wipes each piece. Calls `onLong` if there is more. */
function collect(stream: NodeJS.ReadableStream, onLong: () => void): { take(): Buffer } {
  const all = Buffer.alloc(MAX_OUTPUT_BYTES);
  let length = 0;
  stream.on('data', (piece: Buffer) => {
    const isLong = length + piece.length > MAX_OUTPUT_BYTES;
    length += piece.copy(all, length);
    wipe(piece);
    if (isLong) onLong();
  });
  return { take: () => all.subarray(0, length) };
}

/** Gathers the last `MAX_OUTPUT_BYTES`: a command says last why it fails. Wipes each piece. */
function collectEnd(stream: NodeJS.ReadableStream): { take(): Buffer } {
  const all = Buffer.alloc(MAX_OUTPUT_BYTES);
  let length = 0;
  stream.on('data', (piece: Buffer) => {
    const end = piece.subarray(-MAX_OUTPUT_BYTES);
    const kept = Math.min(length, MAX_OUTPUT_BYTES - end.length);
    all.copyWithin(0, length - kept, length);
    length = kept + end.copy(all, kept);
    wipe(piece);
  });
  return { take: () => all.subarray(0, length) };
}

/** Returns the end of standard error as one line, without words of the output and without long hexadecimal numbers. */
function shownText(said: Buffer, output: Buffer): string {
  let text = said.toString('utf8');
  wipe(said);
  for (const word of output.toString('latin1').split(/[\s,:]+/)) {
    if (word.length >= MIN_HIDDEN) text = text.replaceAll(word, '<hidden>');
  }
  return text
    .replace(/[0-9a-f]{32,}|AGE-SECRET-KEY-\w+/gi, '<hidden>')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(-MAX_SAID);
}

/** Kills the command with all processes that it started. */
function kill({ pid }: ChildProcess, isGroup: boolean): void {
  if (pid === undefined) return;
  try {
    process.kill(isGroup ? -pid : pid, 'SIGKILL');
  } catch {
    // They have ended.
  }
}

/** Starts a child that ends with this process, until `release`: a signal to this process's group does not reach it. */
function startBound<Child extends ChildProcess>(
  start: () => Child,
  isGroup: boolean,
): { child: Child; release(): void } {
  let child: Child | undefined;
  const end = (): void => {
    if (child) kill(child, isGroup);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    end();
    // This listener has been removed. Without another one, the signal ends this process.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  // Before the start: a signal between the two would end this process alone.
  process.once('exit', end);
  for (const signal of signals) process.once(signal, onSignal);
  child = start();
  const release = (): void => {
    process.off('exit', end);
    for (const signal of signals) process.off(signal, onSignal);
  };
  return { child, release };
}
