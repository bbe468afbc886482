/** `phm secret retire` and `reinstate`: what the proofs of a version of the master secret that leaked are worth. */
import { type Command, InvalidArgumentError } from 'commander';
import { wipe } from '../../bytes.ts';
import { formatTimestamp } from '../../clock.ts';
import type { Config } from '../../config/index.ts';
import { SetupError } from '../../errors.ts';
import { commandLine } from '../../launcher.ts';
import type { LedgerStore, Retirement, SecretCheck } from '../../ledger/index.ts';
import { MAX_VERSION } from '../../proof/index.ts';
import { readMasterSecret } from '../../service/index.ts';
import { CommandError } from '../command-error.ts';
import { type CliContext, writeJson } from '../context.ts';
import { withStore } from './with-store.ts';

interface RetireOptions {
  /** Milliseconds since the epoch. */
  readonly compromisedSince?: number;
  readonly json?: boolean;
}

const RETIRE_HELP = `
For a version that leaked. Anyone who has it can make a proof for any key, so its proofs no longer decide alone:
a key of that version is valid only if the ledger has its row. With --compromised-since the row must be older
than TIME, too. Keys whose rows were pruned can no longer be confirmed. All servers of the ledger learn of it
within seconds. A server that makes keys under the version makes none until it is restarted with another one.

Run it again with an earlier TIME to correct it. To take it back: phm secret reinstate VERSION

Example, after a rotation and a restart:
  phm secret retire 1 --compromised-since 2026-11-20T14:00Z
`;

const REINSTATE_HELP = `
For a version that was retired by mistake. Its proofs decide alone again, also those of anyone who has stolen it.
`;

export function addRetirementCommands(secret: Command, context: CliContext): void {
  secret
    .command('retire')
    .description('let proofs of a version that leaked count only with a row in the ledger')
    .argument('<version>', 'a version that makes no keys any more', parseVersion)
    .option(
      '--compromised-since <time>',
      'rows count if made before: 2026-11-20, or 2026-11-20T14:00Z; left out: all rows count',
      parseTime,
    )
    .option('--json', 'write the result as JSON')
    .addHelpText('after', RETIRE_HELP)
    .action((version: number, options: RetireOptions) => retire(context, version, options));
  secret
    .command('reinstate')
    .description('take the retirement of a version back')
    .argument('<version>', 'a retired version', parseVersion)
    .option('--json', 'write the result as JSON')
    .addHelpText('after', REINSTATE_HELP)
    .action((version: number, options: { json?: boolean }) => reinstate(context, version, options));
}

/** The times of a retirement as JSON. */
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
  throw new CommandError(
    `VERSION expected a whole number from 1 to ${MAX_VERSION}, got ${text}`,
    2,
  );
}

const TIME_FORM = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Reads a day, which begins at midnight UTC, or a time with its offset. */
function parseTime(text: string, given?: number): number {
  if (given !== undefined) throw new CommandError('--compromised-since is given twice', 2);
  const day = TIME_FORM.exec(text)?.[1];
  const epochMs = Date.parse(text);
  // The engine takes February 30 for March 2.
  if (day === undefined || Number.isNaN(epochMs) || !isDay(day)) {
    throw new InvalidArgumentError(
      'use a day, as 2026-11-20 (its beginning, UTC), or a time with its offset, as 2026-11-20T14:00Z.',
    );
  }
  if (epochMs < 0) throw new InvalidArgumentError('use a time from 1970 on.');
  if (epochMs > Date.now()) {
    throw new InvalidArgumentError('TIME is in the future.');
  }
  return epochMs;
}

function isDay(day: string): boolean {
  return new Date(`${day}T00:00Z`).toISOString().startsWith(day);
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
    if (retirement === null) requireUnused(context, config, checks, version);
    else refuseToLoosen(context, version, retirement, compromisedMs);
    await store.retireSecret(version, { retiredMs: Date.now(), compromisedMs });
    return [retirement, await retirementOf(store, version)];
  });
  if (json) writeJson(context, { version, ...retirementJson(now) });
  else context.err(describe(context, version, before, now));
}

async function reinstate(
  context: CliContext,
  version: number,
  { json }: { json?: boolean },
): Promise<void> {
  const now = await withStore(context, async (store) => {
    const { retirement } = requireVersion(await store.secretChecks(), version);
    if (retirement === null) throw new CommandError(`version ${version} is not retired`, 1);
    await store.reinstateSecret(version);
    return retirementOf(store, version);
  });
  if (json) writeJson(context, { version, ...retirementJson(now) });
  else {
    context.err(
      `Version ${version} is no longer retired. A proof under it decides alone again, a forged one included.\n`,
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
    `the ledger knows no version ${version} of the master secret; it knows ${[...checks.keys()].join(', ')}`,
    1,
  );
}

/**
 * Throws `CommandError` while keys are made under the version, as far as the ledger and this configuration tell. A
 * server that is missed here finds out by itself, and makes no more keys.
 */
function requireUnused(
  context: CliContext,
  config: Config,
  checks: ReadonlyMap<number, SecretCheck>,
  version: number,
): void {
  const successors = [...checks].filter(
    ([other, { activated, retirement }]) => other !== version && activated && !retirement,
  );
  const steps =
    `Add a version, if there is none: ${commandLine(context, 'secret rotate')}\n` +
    'Restart every server with it as the current one, then retire this one.';
  if (successors.length === 0) {
    throw new CommandError(
      `every other version has made no keys yet or is retired, so version ${version} is needed to make keys\n${steps}`,
      1,
    );
  }
  if (currentVersion(config) === version) {
    throw new CommandError(
      `this configuration makes keys under version ${version}: a server would not start with it any more\n${steps}`,
      1,
    );
  }
}

/** The version that a server with this configuration makes keys under; null when its secret is not at hand. */
function currentVersion({ masterSecret }: Config): number | null {
  try {
    const { versions, currentVersion } = readMasterSecret(masterSecret);
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
    `version ${version} is retired as compromised since ${formatTimestamp(compromisedMs)}; a later time would let ` +
      'more rows count\n' +
      `To do it anyway: ${commandLine(context, `secret reinstate ${version}`)} && ${commandLine(context, again)}\n` +
      `Between the two, proofs under version ${version} decide alone.`,
    1,
  );
}

/** A server that makes keys under the version learns of it by its check of every two seconds. */
function lateKeys(version: number): string {
  return (
    `A server that still runs under version ${version} may hand out keys for about two seconds more. They are not ` +
    'valid: replace them.\n'
  );
}

/** What was done, what follows from it, and how to take it back. */
function describe(
  context: CliContext,
  version: number,
  before: Retirement | null,
  now: Retirement | null,
): string {
  const since = now?.compromisedMs ?? null;
  const isSame = before !== null && before.compromisedMs === since;
  const rows = since === null ? '' : ` from before ${formatTimestamp(since)}`;
  const verb = isSame ? 'was retired already' : before ? 'is retired more strictly' : 'is retired';
  return (
    `Version ${version} ${verb}. Servers know it within seconds; one that makes keys under it makes none ` +
    'until it is restarted with another version.\n' +
    `A key of version ${version} is valid only with its row in the ledger${rows}. Keys whose rows were pruned can no ` +
    'longer be confirmed.\n' +
    (since === null ? '' : lateKeys(version)) +
    `To take it back: ${commandLine(context, `secret reinstate ${version}`)}\n`
  );
}
