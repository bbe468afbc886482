#!/usr/bin/env node
/** `phm-lab`: the commands of a laboratory as a program of their own. */
import { fileURLToPath } from 'node:url';
import { failOnLostOutput } from '../../platform/src/commands/index.ts';
import { visibleLines } from '../../platform/src/terminal/index.ts';
import { runLab } from './commands/program.ts';
import { labSoftware, readVersion } from './software.ts';

const NAME = 'phm-lab';

/** Part of the package (`scripts/complete-package.ts`). */
const PAGE = fileURLToPath(new URL('../../testbench.html', import.meta.url));

const version = readVersion();
const { env } = process;

process.stderr.on('error', () => {});
failOnLostOutput({
  say: (reason) => process.stderr.write(`${NAME}: ${visibleLines(reason)}\n`),
  code: () => 1,
});
void runLab(process.argv.slice(2), {
  env,
  name: NAME,
  version,
  launcher: env.npm_lifecycle_event === 'npx' ? `npx ${NAME}` : NAME,
  umask: process.umask(0o077),
  page: PAGE,
  software: () => labSoftware(version),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
}).then(
  (code) => {
    process.exitCode = code;
  },
  // Name and places, and never the message, which may quote the input.
  (error: unknown) => {
    const { name, stack = '' } = error instanceof Error ? error : new Error();
    const frames = stack.split('\n').filter((line) => line.startsWith('    at '));
    process.stderr.write(`${[`${NAME}: ended by an unexpected ${name}`, ...frames].join('\n')}\n`);
    process.exitCode = 1;
  },
);
