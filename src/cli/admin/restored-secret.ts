/** Compares a restored ledger with the configured master secret. */

import { existsSync } from 'node:fs';
import { CommandError } from '#platform/commands';
import type { Config } from '../../config/index.ts';
import { SetupError } from '../../errors.ts';
import { openStoreToRead, storeLocation } from '../../ledger/index.ts';
import { asStarted } from '../../process/launcher.ts';
import { Keyring } from '../../proof/index.ts';
import { foreignSecretProblem, readMasterSecret } from '../../setup/index.ts';
import type { CliContext } from '../context.ts';

/**
 * Throws `CommandError` if no server would start on the ledger with the configured master secret. Warns if they cannot
 * be compared. Does nothing if there is no secret yet.
 */
export async function requireFittingSecret(context: CliContext, config: Config): Promise<void> {
  const { masterSecret: origin } = config;
  if ('path' in origin && !existsSync(origin.path)) return;
  const problem = await compare(config).catch((error: unknown) => {
    if (!(error instanceof SetupError)) throw error;
    const reason = asStarted(error.message, context);
    context.err(`warning: the master secret was not compared with the ledger: ${reason}\n`);
    return null;
  });
  if (problem === null) return;
  throw new CommandError(
    `the database was restored, but no server can start on it with the configured master secret: ${problem}`,
    1,
  );
}

async function compare(config: Config): Promise<string | null> {
  const { versions, currentVersion } = await readMasterSecret(config.masterSecret);
  const keyring = new Keyring(versions, currentVersion);
  try {
    const store = await openStoreToRead(storeLocation(config));
    const checks = await store.secretChecks().finally(() => store.close());
    return foreignSecretProblem(keyring, checks);
  } finally {
    keyring.destroy();
  }
}
