/** `phm secret`: the master secret, from which the keys of commitments and proofs are derived. */
import type { Command } from 'commander';
import { wipe } from '../bytes.ts';
import { formatTimestamp } from '../clock.ts';
import type { MasterSecretOrigin } from '../config/index.ts';
import { createMasterSecret, readMasterSecret, rotateMasterSecret } from '../keys/index.ts';
import { Keyring, newMasterSecret } from '../proof/index.ts';
import { CommandError } from './command-error.ts';
import { type CliContext, requireConfig, writeJson, writeTable } from './context.ts';

export function addSecretCommands(program: Command, context: CliContext): void {
  const secret = program.command('secret').description('make, rotate and list the master secret');
  secret
    .command('new')
    .description('make a master secret in its file, or print one for PHM_MASTER_KEY')
    .option('--print', 'print 64 hex digits and write no file')
    .option('--json', 'write the result as JSON')
    .action((options) => create(context, options));
  secret
    .command('rotate')
    .description('add a version; old proofs and commitments still verify. Restart servers after it')
    .option('--json', 'write the result as JSON')
    .action((options) => rotate(context, options));
  secret
    .command('list')
    .description('list the versions, without the secrets')
    .option('--json', 'write the result as JSON')
    .action((options) => list(context, options));
}

function create(context: CliContext, options: { print?: boolean; json?: boolean }): void {
  if (options.print) {
    const secret = newMasterSecret();
    const text = secret.toString('hex');
    wipe(secret);
    if (options.json) writeJson(context, { master_key: text });
    else context.out(`${text}\n`);
    return;
  }
  const origin = requireConfig(context).masterSecret;
  if (origin.kind === 'environment') {
    throw new CommandError('PHM_MASTER_KEY is set: unset it, or use --print to make another', 1);
  }
  createMasterSecret(origin.path);
  report(context, origin, 1, 'Made', options.json);
}

function rotate(context: CliContext, options: { json?: boolean }): void {
  const origin = requireConfig(context).masterSecret;
  const version = rotateMasterSecret(origin);
  report(context, origin, version, 'Added', options.json);
}

function report(
  context: CliContext,
  origin: MasterSecretOrigin,
  version: number,
  verb: string,
  json = false,
): void {
  const path = origin.kind === 'environment' ? null : origin.path;
  if (json) writeJson(context, { version, path });
  else {
    const restart = version > 1 ? ' Restart the server to use it.' : '';
    context.err(`${verb} version ${version} in ${path}. Keep a copy in a safe place.${restart}\n`);
  }
}

/** Lists versions with the start of their check value, by which two files can be told apart. */
function list(context: CliContext, options: { json?: boolean }): void {
  const origin = requireConfig(context).masterSecret;
  const keyring = new Keyring(readMasterSecret(origin));
  const rows = keyring.versions.map((version) => ({
    version,
    status: version === keyring.currentVersion ? 'current' : 'verify-only',
    check: keyring.checkValue(version).subarray(0, 8).toString('hex'),
  }));
  keyring.destroy();
  if (options.json) {
    writeJson(context, { versions: rows, listed_at: formatTimestamp(Date.now()) });
    return;
  }
  writeTable(
    context,
    ['VERSION', 'STATUS', 'CHECK'],
    rows.map((row) => [String(row.version), row.status, row.check]),
  );
}
