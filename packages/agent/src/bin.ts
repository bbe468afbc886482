#!/usr/bin/env node
/** `phm-agent`: the agent as a program. */
import { readFileSync } from 'node:fs';
import { startProgram } from '../../platform/src/commands/index.ts';
import { dropWebCryptoWarnings } from '../../platform/src/threads/index.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { runProgram } from './commands/program.ts';
import type { AgentConfig } from './config/load.ts';
import type { KeyBoxes } from './source/key-boxes.ts';
import { ServiceBoxes } from './source/service-boxes.ts';
import { TwoServices } from './source/two-services.ts';

const NAME = 'phm-agent';

/** Beside the folder of this file, in the project and in the package. */
const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string };

// Files that it makes are its own.
process.umask(0o077);
dropWebCryptoWarnings();
startProgram(NAME, () =>
  runProgram(process.argv.slice(2), {
    name: NAME,
    version,
    env: process.env,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    boxesOf,
  }),
);

function boxesOf({ own: { recipient }, recipientKey, services, pools }: AgentConfig): KeyBoxes {
  const [first, second] = services.map((one) => ({
    name: one.url,
    boxes: new ServiceBoxes({
      ...one,
      recipient,
      recipientKey,
      lifeMs: pools.lifeMs,
      clock: SYSTEM_CLOCK,
    }),
  }));
  if (first === undefined) throw new Error('the configuration has no service');
  return second === undefined ? first.boxes : new TwoServices([first, second], SYSTEM_CLOCK);
}
