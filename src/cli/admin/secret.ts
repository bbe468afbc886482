/** `phm secret`: manages the master secret, from which the keys of commitments and proofs are derived. */

import type { Command } from 'commander';
import { CommandError, writeJson, writeTable } from '#platform/commands';
import { wipe } from '../../bytes.ts';
import { formatTimestamp } from '../../clock.ts';
import type { MasterSecretOrigin } from '../../config/index.ts';
import { Keyring, newMasterSecret } from '../../proof/index.ts';
import {
  createMasterSecret,
  foreignSecretProblem,
  readMasterSecret,
  rotateMasterSecret,
} from '../../setup/index.ts';
import { type CliContext, requireConfig, requireReader } from '../context.ts';
import { addRetirementCommands, retirementJson } from './secret-retire.ts';
import { readStoreIfAny, requireSecretFile } from './with-store.ts';

export function addSecretCommands(program: Command, context: CliContext): void {
  const secret = program
    .command('secret')
    .description('generate, rotate, retire and list the master secret');
  secret
    .command('new')
    .description('generate a master secret in its file, or print one for PHM_MASTER_KEY')
    .option('--print', 'print 64 hex digits instead of writing a file')
    .option('--json', 'write the result as JSON')
    .action((options) => create(context, options));
  secret
    .command('rotate')
    .description('add a version and print the next steps; old proofs and commitments still verify')
    .option('--json', 'write the result as JSON')
    .action((options) => rotate(context, options));
  secret
    .command('list')
    .description('list the versions and their retirements, without the secrets')
    .option('--json', 'write the result as JSON')
    .action((options) => list(context, options));
  addRetirementCommands(secret, context);
}

function create(context: CliContext, options: { print?: boolean; json?: boolean }): void {
  if (options.print) {
    requireReader(context);
    const secret = newMasterSecret();
    const text = secret.toString('hex');
    wipe(secret);
    if (options.json) writeJson(context, { master_key: text });
    else context.out(`${text}\n`);
    return;
  }
  const origin = requireConfig(context).masterSecret;
  if (!('path' in origin)) {
    throw new CommandError(
      `${nameOf(origin)} is set: unset it, or use --print to generate another`,
      1,
    );
  }
  createMasterSecret(origin.path);
  report(context, origin, 1, 'Generated', options.json);
}

async function rotate(context: CliContext, options: { json?: boolean }): Promise<void> {
  const config = requireConfig(context);
  requireSecretFile(context, config);
  const origin = config.masterSecret;
  const version = await rotateMasterSecret(origin);
  report(context, origin, version, 'Added', options.json);
  context.err(...nextSteps(version, origin.currentVersion ?? version - 1));
}

/** Returns the steps after a version was added to the file. */
function nextSteps(version: number, current: number): string[] {
  return [
    'One server: restart it without PHM_MASTER_KEY_VERSION.',
    'Several servers on one database: in each step, restart one server at a time and wait until it is ready.',
    `  1. Give all of them this secret with PHM_MASTER_KEY_VERSION=${current}.`,
    `  2. When all run with it, set PHM_MASTER_KEY_VERSION=${version} on all of them.`,
  ];
}

function report(
  context: CliContext,
  origin: MasterSecretOrigin,
  version: number,
  verb: string,
  json = false,
): void {
  const path = 'path' in origin ? origin.path : null;
  if (json) writeJson(context, { version, path });
  else context.err(`${verb} version ${version} in ${path}. Keep a copy in a safe place.\n`);
}

/** Returns where the master secret comes from: a path or the name of a variable. */
function nameOf(origin: MasterSecretOrigin): string {
  if ('path' in origin) return origin.path;
  return origin.kind === 'command' ? 'PHM_MASTER_KEY_COMMAND' : 'PHM_MASTER_KEY';
}

/** Lists the versions. The start of each check value tells two files apart. */
async function list(context: CliContext, options: { json?: boolean }): Promise<void> {
  const config = requireConfig(context);
  const origin = config.masterSecret;
  context.err(`Master secret: ${nameOf(origin)}\n`);
  requireSecretFile(context, config);
  const { versions, currentVersion } = await readMasterSecret(origin);
  const keyring = new Keyring(versions, currentVersion);
  const checks = await readStoreIfAny(context, config, (store) => store.secretChecks());
  const rows = keyring.versions.map((version) => ({
    version,
    status: version === keyring.currentVersion ? 'current' : 'verify-only',
    check: keyring.checkValue(version).subarray(0, 8).toString('hex'),
    ...(checks && retirementJson(checks.get(version)?.retirement ?? null)),
  }));
  const problem = checks ? foreignSecretProblem(keyring, checks) : null;
  keyring.destroy();
  if (problem !== null) context.err(`warning: ${problem}\n`);
  if (options.json) {
    writeJson(context, { versions: rows, listed_at: formatTimestamp(Date.now()) });
    return;
  }
  if (versions.length > 1) {
    context.err('STATUS applies to servers from their next start with these variables.\n');
  }
  writeTable(
    context,
    ['VERSION', 'STATUS', 'CHECK', 'RETIRED', 'COMPROMISED SINCE'],
    rows.map((row) => [
      String(row.version),
      row.status,
      row.check,
      checks ? (row.retired_at ?? '-') : '?',
      checks ? (row.compromised_since ?? '-') : '?',
    ]),
  );
  const highest = versions[versions.length - 1].version;
  if (highest !== currentVersion) {
    context.err(
      `Version ${highest} only verifies. When every server of the database runs with it, set ` +
        `PHM_MASTER_KEY_VERSION=${highest} on all of them and restart them one at a time.\n`,
    );
  }
}
