/**
 * The program: one command line. It is the only reader of the process environment. It loads the server only for the
 * command that starts it; without it, the other commands take a third of the time.
 */
import { fstatSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { SetupError, stackFrames } from './errors.ts';
import { dropWebCryptoWarnings } from './experimental-warnings.ts';
import { isJsonLog, jsonLines, logWarnings } from './process-log.ts';
import { visibleLines } from './visible.ts';

// Before any file is written: Node runs whatever is in its folder of compiled code, so no other user may write there.
const umask = process.umask(0o077);
// Without the cache, each start strips the types of every module and compiles it again. Enabled before anything else is
// loaded. NODE_COMPILE_CACHE takes precedence. If the folder is not writable, the cache is incomplete or missing.
enableCompileCache(fileURLToPath(new URL('../build/compile-cache', import.meta.url)));

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

/** True if the command no longer needs the reader of its output. */
let outputLeft = false;

process.on('uncaughtException', endAtOnce);
dropWebCryptoWarnings();
if (log) logWarnings(log);
// Lost messages do no harm, but lost data fails the command. If a reader such as head closes the pipe, the command exits
// with 141, as after SIGPIPE.
process.stderr.on('error', () => {});
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.once('exit', (code) => {
    if (code !== 0) return;
    if (error.code === 'EPIPE') {
      if (outputLeft) return;
      process.exitCode = 141;
      return;
    }
    sayFailure(`the output cannot be written: ${writeFailure(error)}`);
    process.exitCode = 1;
  });
});
// The threads of a server take longest to start, so they start before the command line is read.
const server = isServer ? await import('./serve.ts') : null;
const threads = server?.startThreads();
const { runCli } = await import('./cli/index.ts');
const { findLauncher } = await import('./launcher.ts');
// No command has written before, so none can have failed to.
const { writeFailure } = await import('./files/durable-file.ts');
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
  err: (text) => process.stderr.write(text),
  log,
  serve: async (config, options) => {
    const { serve, startThreads } = server ?? (await import('./serve.ts'));
    const serveOptions = { ...options, env, launcher, onFatal: endAtOnce };
    return serve(config, serveOptions, threads ?? startThreads());
  },
});
// A write that its reader does not take would keep the process alive.
if (outputLeft) process.exit();
