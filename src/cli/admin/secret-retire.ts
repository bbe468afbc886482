/** `phm secret retire` and `reinstate`: distrust a leaked version of the master secret, and undo that. */

import type { Command } from 'commander';
import { CommandError, writeJson } from '#platform/commands';
import { wipe } from '../../bytes.ts';
import { formatTimestamp } from '../../clock.ts';
import type { Config } from '../../config/index.ts';
import { SetupError } from '../../errors.ts';
import type { LedgerStore, Retirement, SecretCheck } from '../../ledger/index.ts';
import { commandLine } from '../../process/launcher.ts';
import { MAX_VERSION } from '../../proof/index.ts';
import { readMasterSecret } from '../../setup/index.ts';
import type { CliContext } from '../context.ts';
import { pastTime } from '../parse-time.ts';
import { auditOf } from './audit-record.ts';
import { withStore } from './with-store.ts';

interface RetireOptions {
  /** Milliseconds since the epoch. */
  readonly compromisedSince?: number;
  readonly json?: boolean;
}

const RETIRE_HELP = `
Use this for a version that leaked. Anyone who has the secret can forge a proof for any key, so a proof no longer
suffices: a key of this version is valid only if the ledger has its row. With --compromised-since, the row must also
be older than TIME. Keys whose rows were pruned can no longer be confirmed. All servers of the ledger learn of it
within seconds. A server that still uses this version as its current one generates no keys until you restart
it with another version.

To correct TIME to an earlier one, run the command again. To undo it: phm secret reinstate VERSION

Example, after a rotation and a restart:
  phm secret retire 1 --compromised-since 2026-11-20T14:00Z
`;

const REINSTATE_HELP = `
Use this for a version that was retired by mistake. Its proofs suffice again, including any that a thief forges.
`;

export function addRetirementCommands(secret: Command, context: CliContext): void {
  secret
    .command('retire')
    .description('accept proofs of a leaked version only if the ledger has the row of the key')
    .argument('<version>', 'version to retire; no server may use it any longer', parseVersion)
    .option(
      '--compromised-since <time>',
      'count only rows from before this time: 2026-11-20, or 2026-11-20T14:00Z; default: all rows',
      pastTime('--compromised-since'),
    )
    .option('--json', 'write the result as JSON')
    .addHelpText('after', RETIRE_HELP)
    .action((version: number, options: RetireOptions) => retire(context, version, options));
  secret
    .command('reinstate')
    .description('undo the retirement of a version')
    .argument('<version>', 'retired version', parseVersion)
    .option('--json', 'write the result as JSON')
    .addHelpText('after', REINSTATE_HELP)
    .action((version: number, options: { json?: boolean }) => reinstate(context, version, options));
}

/** Returns the times of a retirement as JSON. */
export function retirementJson(retirement: Retirement | null): {
  retired_at: string | null;
  compromised_since: string | null;
} {
  const format = (ms: number | null | undefined) => (ms == null ? null : formatTimestamp(ms));
  return {
    retired_at: format(retirement?.retiredMs),
    compromised_since: format(retirement?.compromisedMs),
  };
}

function parseVersion(text: string): number {
  const version = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : Number.NaN;
  if (version <= MAX_VERSION) return version;
  throw new CommandError(`VERSION is ${text}: use a whole number from 1 to ${MAX_VERSION}`, 2);
}

async function retire(
  context: CliContext,
  version: number,
  { compromisedSince, json }: RetireOptions,
): Promise<void> {
  const compromisedMs = compromisedSince ?? null;
  const [before, now] = await withStore(context, async (store, config) => {
    const checks = await store.secretChecks();
    const { retirement } = requireVersion(checks, version);
    if (retirement === null) await requireUnused(context, config, checks, version);
    else refuseToLoosen(context, version, retirement, compromisedMs);
    const retiredMs = Date.now();
    const details = { version, compromised_since: compromisedMs && formatTimestamp(compromisedMs) };
    const order = { atMs: retiredMs, action: 'secret_retired' as const, details };
    const audit = await auditOf(store, config, order);
    await store.retireSecret(version, { retiredMs, compromisedMs }, audit);
    return [retirement, await retirementOf(store, version)];
  });
  if (json) writeJson(context, { version, ...retirementJson(now) });
  else context.err(...describe(context, version, before, now));
}

async function reinstate(
  context: CliContext,
  version: number,
  { json }: { json?: boolean },
): Promise<void> {
  const now = await withStore(context, async (store, config) => {
    const { retirement } = requireVersion(await store.secretChecks(), version);
    if (retirement === null) throw new CommandError(`version ${version} is not retired`, 1);
    const order = {
      atMs: Date.now(),
      action: 'secret_reinstated' as const,
      details: { version },
    };
    await store.reinstateSecret(version, await auditOf(store, config, order));
    return retirementOf(store, version);
  });
  if (json) writeJson(context, { version, ...retirementJson(now) });
  else {
    context.err(
      `Version ${version} is no longer retired. A proof under it suffices again, even a forged one.\n`,
    );
  }
}

async function retirementOf(store: LedgerStore, version: number): Promise<Retirement | null> {
  return (await store.secretChecks()).get(version)?.retirement ?? null;
}

function requireVersion(checks: ReadonlyMap<number, SecretCheck>, version: number): SecretCheck {
  const check = checks.get(version);
  if (check) return check;
  throw new CommandError(
    `the ledger does not know version ${version} of the master secret; it knows ${[...checks.keys()].join(', ')}`,
    1,
  );
}

/**
 * Throws `CommandError` while keys are generated under the version, as far as the ledger and this configuration show.
 * A server that this check misses notices the retirement itself and stops generating keys.
 */
async function requireUnused(
  context: CliContext,
  config: Config,
  checks: ReadonlyMap<number, SecretCheck>,
  version: number,
): Promise<void> {
  const successors = [...checks].filter(
    ([other, { activated, retirement }]) => other !== version && activated && !retirement,
  );
  const steps = [
    `Add a version if there is no other: ${commandLine(context, 'secret rotate')}`,
    `Restart every server with another version as the current one, then retire version ${version}. If you restored a ` +
      'backup from before the first use of that version, first start one server with it where clients cannot reach it ' +
      '(PHM_HOST=127.0.0.1).',
  ];
  if (successors.length === 0) {
    throw new CommandError(
      [
        `version ${version} is still needed to generate keys: apart from retired versions, no other version is in use`,
        ...steps,
      ],
      1,
    );
  }
  if ((await currentVersion(config)) === version) {
    throw new CommandError(
      [
        `version ${version} is current in this configuration: a server would no longer start with it`,
        ...steps,
      ],
      1,
    );
  }
}

/** Returns the version under which a server with this configuration generates keys; null if its secret is missing. */
async function currentVersion({ masterSecret }: Config): Promise<number | null> {
  try {
    const { versions, currentVersion } = await readMasterSecret(masterSecret);
    wipe(...versions.map(({ secret }) => secret));
    return currentVersion;
  } catch (error) {
    if (error instanceof SetupError) return null;
    throw error;
  }
}

function refuseToLoosen(
  context: CliContext,
  version: number,
  { compromisedMs }: Retirement,
  given: number | null,
): void {
  if (given === null || compromisedMs === null || given <= compromisedMs) return;
  const again = `secret retire ${version} --compromised-since ${formatTimestamp(given)}`;
  throw new CommandError(
    [
      `version ${version} is retired as compromised since ${formatTimestamp(compromisedMs)}; with a later time, more rows ` +
        'would count',
      `To do it anyway: ${commandLine(context, `secret reinstate ${version}`)} && ${commandLine(context, again)}`,
      `Between the two commands, a proof under version ${version} suffices.`,
    ],
    1,
  );
}

/** Returns the warning about a server that still uses this version: it checks for retirements every two seconds. */
function lateKeys(version: number): string {
  return (
    `A server that still uses version ${version} may release keys for about two more seconds. These keys are not ` +
    'valid: replace them.\n'
  );
}

/** Describes the retirement, its consequences and how to undo it. */
function describe(
  context: CliContext,
  version: number,
  before: Retirement | null,
  now: Retirement | null,
): string[] {
  const since = now?.compromisedMs ?? null;
  const isSame = before !== null && before.compromisedMs === since;
  const rows = since === null ? '' : ` from before ${formatTimestamp(since)}`;
  const verb = isSame
    ? 'was already retired'
    : before
      ? 'is now retired more strictly'
      : 'is retired';
  return [
    `Version ${version} ${verb}. Servers learn of it within seconds. A server that still uses version ${version} as its ` +
      'current one generates no keys until you restart it with another version.',
    `A key of version ${version} is valid only if the ledger has its row${rows}. Keys whose rows were pruned can no ` +
      'longer be confirmed.',
    ...(since === null ? [] : [lateKeys(version)]),
    `To undo this: ${commandLine(context, `secret reinstate ${version}`)}`,
  ];
}
