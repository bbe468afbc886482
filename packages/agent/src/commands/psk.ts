/** `phm-agent psk`: rotates one pre-shared key with a peer. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  CommandError,
  refuseForeignLink,
  requireOwnDirectory,
} from '../../../platform/src/commands/index.ts';
import { removeLeftovers } from '../../../platform/src/files/index.ts';
import { SYSTEM_CLOCK } from '../clock.ts';
import type { Agent } from '../keys/route.ts';
import { type Words, wordsOf } from '../psk/command.ts';
import { FORMATS, type Format } from '../psk/format.ts';
import { commandConfirm, commandInstaller, fileInstaller } from '../psk/installers.ts';
import type { Confirm, Installer } from '../psk/switcher.ts';
import { LEAST_INTERVAL_MS, MOST_INTERVAL_MS } from '../psk/timetable.ts';

export interface PskCommandOptions {
  readonly peer: string;
  /** In ms. */
  readonly every: number;
  readonly format: Format;
  readonly exec?: Words;
  readonly output?: string;
  readonly confirm?: Words;
}

const DETAILS = `
Both sites run it with the same --every and --format, each with an agent of its own: a recipient, an API key (scopes
generate and receive) and a state directory that nothing else uses. It changes the key at the same time at both
ends, and only to one that both have received. Otherwise the old key stays.

A CMD is words separated by spaces; '…' and "…" keep spaces together. There is no shell: no variables, pipes or
patterns. It has 15 seconds, and of the environment PATH alone. Its outputs are dropped.

  phm-agent psk /etc/phm-agent/psk.json --peer site-b --every 300s --format wireguard \\
    --exec 'wg set wg0 peer <public key> preshared-key /dev/stdin'`;

/** Adds the command. `run` gets what was given. */
export function addPskCommand(
  program: Command,
  run: (file: string, options: PskCommandOptions) => Promise<void>,
): void {
  program
    .command('psk')
    .description('rotate one pre-shared key with a peer, in step, until SIGTERM')
    .argument('<file>', 'the configuration, as JSON: listeners, systems and access may be absent')
    .requiredOption('--peer <name>', 'the other end, as the configuration names it')
    .requiredOption(
      '--every <time>',
      'time of a key, from 300s to 24h, the same at both ends',
      parseEvery,
    )
    .addOption(
      new Option('--format <format>', 'form of the key').choices(FORMATS).makeOptionMandatory(),
    )
    .addOption(
      new Option('--exec <cmd>', 'give each key to this command on its standard input')
        .argParser(parseWords)
        .conflicts('output'),
    )
    .option('--output <file>', 'put each key into this file, in one step, for its owner alone')
    .option(
      '--confirm <cmd>',
      'run this after each change until it exits with 0; if it does not in time, take the old key back',
      parseWords,
    )
    .addHelpText('after', DETAILS)
    .action(run);
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

function parseEvery(text: string): number {
  const [, count, unit = ''] = /^([1-9][0-9]{0,5})([smh])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS_MS[unit] ?? Number.NaN);
  if (ms >= LEAST_INTERVAL_MS && ms <= MOST_INTERVAL_MS) return ms;
  throw new InvalidArgumentError('use a time from 300s to 24h, such as 300s, 10m or 1h.');
}

function parseWords(text: string): Words {
  const words = wordsOf(text);
  if (words !== null) return words;
  throw new InvalidArgumentError('use words separated by spaces; each quote needs its end.');
}

/** Returns the peer of that name. Throws `CommandError`. */
export function peerNamed(name: string, peers: readonly Agent[]): Agent {
  const peer = peers.find((one) => one.name === name);
  if (peer !== undefined) return peer;
  const names = peers.map((one) => JSON.stringify(one.name)).join(', ') || 'none';
  throw new CommandError(`--peer: the configuration has these peers: ${names}`, 2);
}

/** Returns where keys go, and what confirms them. `path` is where programs are looked for. Throws `CommandError`. */
export function systemOf(
  { format, exec, output, confirm }: PskCommandOptions,
  path: string,
): { readonly installer: Installer; readonly confirm: Confirm | null } {
  return {
    installer: installerOf(exec, output, path, format),
    confirm: confirm === undefined ? null : commandConfirm(confirm, path),
  };
}

function installerOf(
  exec: Words | undefined,
  output: string | undefined,
  path: string,
  format: Format,
): Installer {
  if (exec !== undefined) return commandInstaller(exec, path, format);
  if (output === undefined) throw new CommandError('give --exec or --output', 2);
  const file = resolve(output);
  if (!statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory()) {
    throw new CommandError(`--output: there is no directory ${dirname(file)}`, 2);
  }
  refuseForeignLink(file);
  requireOwnDirectory(dirname(file));
  removeLeftovers(file, SYSTEM_CLOCK.nowMs());
  return fileInstaller(file, format);
}
