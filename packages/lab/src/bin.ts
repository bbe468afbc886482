#!/usr/bin/env node
/** `phm-lab`: the commands of a laboratory as a program of their own. */
import { fileURLToPath } from 'node:url';
import { startProgram } from '../../platform/src/commands/index.ts';
import { runLab } from './commands/program.ts';
import { labSoftware, readVersion } from './software.ts';

const NAME = 'phm-lab';

/** Part of the package (`scripts/complete-package.ts`). */
const PAGE = fileURLToPath(new URL('../../testbench.html', import.meta.url));

const version = readVersion();
const { env } = process;

startProgram(NAME, () =>
  runLab(process.argv.slice(2), {
    env,
    name: NAME,
    version,
    launcher: env.npm_lifecycle_event === 'npx' ? `npx ${NAME}` : NAME,
    umask: process.umask(0o077),
    page: PAGE,
    software: () => labSoftware(version),
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  }),
);
