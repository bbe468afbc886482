/**
 * The program: one command line. It is the only reader of the process environment. The server is
 * loaded with the one command that starts it; the others answer in a third of the time without it.
 */
import { fstatSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { stackFrames } from './errors.ts';

// Before any file: Node runs what it finds in its folder of compiled code, whoever may have put it there.
process.umask(0o077);
// Else each start strips the types of every module and compiles it again. Before anything else is loaded;
// NODE_COMPILE_CACHE goes first, and where the folder cannot be written there is less of it or none.
enableCompileCache(fileURLToPath(new URL('../build/compile-cache', import.meta.url)));

/**
 * A broken invariant: what is in memory cannot be trusted. Names the error, not its message, unless that
 * is Node's own about a module that an installation lacks.
 */
function endAtOnce(error: Error): void {
  if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND') {
    process.stderr.write(`phm: ${error.message}; the installation is not complete: run "npm ci"\n`);
    process.exit(1);
  }
  process.stderr.write(
    `phm: ended by an unexpected ${error.name}\n${stackFrames(error).join('\n')}\n`,
  );
  process.exit(1);
}

/** Resolves when the bytes are written, so that they may be wiped. */
function writeOut(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** Whether standard output and standard error are one terminal, pipe or file. */
function outputIsShared(): boolean {
  try {
    const [out, err] = [fstatSync(1), fstatSync(2)];
    // Windows numbers no pipes.
    return out.ino !== 0 && out.ino === err.ino && out.dev === err.dev;
  } catch {
    return false;
  }
}

process.on('uncaughtException', endAtOnce);
// Words that cannot be written are lost and harm nothing; data that cannot fails the command. A reader that has seen
// enough, such as head, closes the pipe: the command then ends as SIGPIPE would end it.
process.stderr.on('error', () => {});
process.stdout.on('error', ({ code: reason }: NodeJS.ErrnoException) => {
  process.once('exit', (code) => {
    if (code !== 0) return;
    if (reason === 'EPIPE') {
      process.exitCode = 141;
      return;
    }
    process.stderr.write('phm: the output cannot be written\n');
    process.exitCode = 1;
  });
});
const { runCli } = await import('./cli/index.ts');
const { findLauncher } = await import('./launcher.ts');
const launcher = findLauncher(process.env, process.argv);
process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  launcher,
  out: (text) => process.stdout.write(text),
  outBytes: writeOut,
  outputIsShared,
  err: (text) => process.stderr.write(text),
  serve: async (config, options) => {
    const { serve } = await import('./serve.ts');
    return serve(config, { ...options, env: process.env, launcher, onFatal: endAtOnce });
  },
});
