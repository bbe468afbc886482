/** Checks the versions of the master secret, as the start of a server does. */
import { existsSync } from 'node:fs';
import { wipe } from '../../bytes.ts';
import { readMasterSecret, unfitSecretProblem } from '../../setup/index.ts';
import { type Finding, failed, ok, Skipped, warning } from './finding.ts';
import type { Site } from './site.ts';

export async function checkSecret(site: Site): Promise<Finding[]> {
  const { masterSecret: origin } = site.config;
  if (origin.kind === 'managed' && !existsSync(origin.path)) {
    // A first start creates the file, but not for a ledger that has had a secret.
    const registered = await (await site.store()).secretChecks();
    if (registered.size === 0) throw new Skipped('the first start of a server creates the file');
  }
  const secret = await readMasterSecret(origin);
  try {
    const registered = await (await site.store()).secretChecks();
    const problem = unfitSecretProblem(secret, registered);
    if (problem !== null) return [failed(problem)];
    const versions = secret.versions.map(({ version }) => version);
    const noun = versions.length === 1 ? 'version' : 'versions';
    return [
      ...site.said.map((text) => warning(`PHM_MASTER_KEY_COMMAND says: ${text}`)),
      ok(`${noun} ${versions.join(', ')}, current ${secret.currentVersion}, fits the database`),
    ];
  } finally {
    wipe(...secret.versions.map((one) => one.secret));
  }
}
