/**
 * The program: one command line. It is the only reader of the process environment. It loads the server only for the
 * command that starts it; without it, the other commands take a third of the time.
 */

import { constants, fstatSync, readFileSync, statSync } from 'node:fs';
import { stackFrames, visibleLines } from '#platform/terminal';
import { dropWebCryptoWarnings, isWorkingDirectoryGone } from '#platform/threads';
import { SetupError } from './errors.ts';
import { isJsonLog, jsonLines, logWarnings } from './process/process-log.ts';

// Before any file is written: Node runs whatever is in its folder of compiled code, so no other user may write there.
const umask = process.umask(0o077);

/** The environment as it was given. The threads and requests of this process have the other one. */
const env = { ...process.env };
if (
  process.env.NODE_USE_ENV_PROXY ||
  /use-env-proxy/.test(`${process.execArgv} ${env.NODE_OPTIONS}`)
) {
  const { limitProxies, takesProxies } = await import('./config/outgoing-proxy.ts');
  if (takesProxies(env, process.execArgv)) {
    env.NODE_USE_ENV_PROXY = '1';
    const settings = Object.keys(env).filter((name) => name.startsWith('PHM_'));
    limitProxies(process.env, [...settings.map((name) => env[name] ?? ''), ...process.argv]);
  }
}

delete process.env._PHM_OUTPUT;

const isServer = process.argv[2] === 'serve';
/** The form of messages: lines of a JSON log for a server that has one; otherwise null, for text. */
const log =
  isServer && isJsonLog(process.env.PHM_LOG_FORMAT?.trim(), process.stderr.isTTY)
    ? jsonLines((line) => process.stderr.write(line))
    : null;

/** Exits with code 1 after a broken invariant, because memory cannot be trusted. The reason follows the waiting log lines. */
function endAtOnce(error: Error): void {
  // The server's log has registered before and writes first.
  process.once('exit', () => sayLast(error));
  process.exit(1);
}

/** Writes the error's name, and not its message, except that of a thread that cannot start, and Node's own about a missing module. */
function sayLast(error: Error): void {
  if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND') {
    sayFailure(`${error.message}; the installation is incomplete: run "npm ci"`);
  } else if (error instanceof SetupError) sayFailure(error.message);
  else {
    const frames = stackFrames(error);
    if (log) log('fatal', { error: error.name, frames }, 'ended by an unexpected error');
    else say(`ended by an unexpected ${error.name}\n${frames.join('\n')}`);
  }
}

function sayFailure(reason: string): void {
  if (log) log('fatal', { reason }, 'the server cannot run');
  else say(reason);
}

function say(message: string): void {
  process.stderr.write(`phm: ${visibleLines(message)}\n`);
}

/** Writes bytes to standard output. Resolves when they may be wiped. */
function writeOut(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** Reports whether standard output and standard error are the same terminal, pipe or file. */
function outputIsShared(): boolean {
  try {
    const [out, err] = [fstatSync(1), fstatSync(2)];
    // On Windows pipes have no numbers.
    return out.ino !== 0 && out.ino === err.ino && out.dev === err.dev;
  } catch {
    return false;
  }
}

/**
 * Reports whether what is written to standard output has a chance to be read. Node opens the null device, for reading and
 * writing, in the place of a closed output. So does a parent process that ignores the output; a shell opens it for writing.
 */
function outputState(): 'open' | 'ignored' | 'closed' {
  if (env._PHM_OUTPUT === 'closed') return 'closed';
  try {
    if (fstatSync(1).rdev !== statSync('/dev/null').rdev) return 'open';
    const [, flags = '0'] =
      /^flags:\s*([0-7]+)/m.exec(readFileSync('/proc/self/fdinfo/1', 'latin1')) ?? [];
    return (Number.parseInt(flags, 8) & constants.O_RDWR) !== 0 ? 'ignored' : 'open';
  } catch {
    return 'open';
  }
}

/** Exit code if data was lost: 1 is the verdict "not valid" of some commands. */
let lostCode = 1;

/** True if the command no longer needs the reader of its output. */
let outputLeft = false;

process.on('uncaughtException', endAtOnce);
dropWebCryptoWarnings();
if (log) logWarnings(log);
// Lost messages do no harm.
process.stderr.on('error', () => {});
// No thread starts in a directory that was removed. A server that needs none goes on at the root.
if (isServer && isWorkingDirectoryGone()) {
  const { relativePaths } = await import('./config/relative-paths.ts');
  const names = relativePaths(env);
  if (names.length > 0) {
    sayFailure(
      `the working directory no longer exists, and ${names.join(', ')} would start there: change to one that does, or ` +
        'write whole paths',
    );
    process.exit(1);
  }
  process.chdir('/');
}
// The threads of a server take longest to start, so they start before the command line is read.
const server = isServer ? await import('./serve/index.ts') : null;
const threads = server?.startThreads();
const { runCli } = await import('./cli/index.ts');
const { findLauncher } = await import('./process/launcher.ts');
const { failOnLostOutput } = await import('#platform/commands');
// No command has written before, so none can have failed to.
failOnLostOutput({ say: sayFailure, code: () => lostCode, isLeft: () => outputLeft });
const launcher = findLauncher(env, process.argv);
process.exitCode = await runCli(process.argv.slice(2), {
  env,
  launcher,
  umask,
  out: (text) => process.stdout.write(text),
  outBytes: writeOut,
  leaveOutput: () => {
    outputLeft = true;
  },
  outputIsShared,
  outputState,
  onVerdict: () => {
    lostCode = 2;
  },
  err: (text) => process.stderr.write(text),
  log,
  serve: async (config, options) => {
    const { serve, startThreads } = server ?? (await import('./serve/index.ts'));
    const serveOptions = { ...options, env, launcher, onFatal: endAtOnce };
    return serve(config, serveOptions, threads ?? startThreads());
  },
});
// A write that its reader does not take would keep the process alive.
if (outputLeft) process.exit();
