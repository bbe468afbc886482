/** `phm keys revoke`: revokes one key, or many in one call of the command. */

import { createInterface } from 'node:readline';
import { type Command, Option } from 'commander';
import { CommandError, writeJson } from '#platform/commands';
import {
  type KeyInfo,
  PhmApiError,
  type PhmClient,
  type RevocationReason,
} from '../../../sdk/src/index.ts';
import { REVOCATION_REASONS } from '../../ledger/index.ts';
import type { CliContext } from '../context.ts';
import { MAX_KEY_IDS, parseKeyIds, readKeyIdText } from '../key-id-list.ts';
import { addConnectionOptions, Connection, type ConnectionFlags } from './connection.ts';
import { assertKeyId } from './key-id.ts';
import { writeKey } from './key-record.ts';
import { addSelectionOptions, type SelectionFlags, selectionQuery } from './key-selection.ts';

const HELP = `
From then on "phm validate" calls the key invalid, on every server. It cannot be undone. key_compromise makes the key
compromised; every other reason makes an active key deactivated. Holders of the key are not told, and what is encrypted
with it stays so: docs/guides/revoke-a-key.md.

The command says how many keys it would revoke, and asks on a terminal. Without one it revokes nothing unless --confirm is
given. A repeated command changes nothing: it leaves out what is revoked, so that it continues an earlier one. With options
that select, it revokes the keys that meet all of them, at most ${MAX_KEY_IDS}. It writes a line for each revoked key.
Exit code: 0 the keys are revoked, 1 a key is not, also if the account has no such key, 2 wrong usage or no --confirm.

Examples:
  phm keys revoke phm_2170447811675921486708632360111591537 --reason key_compromise
  phm keys revoke --label owner=billing --reason superseded --confirm
  phm keys revoke --api-key key_20026e95 --created-after 2026-11-20T14:00Z --reason key_compromise
  phm keys revoke --file key-ids.txt --reason key_compromise --confirm --json
`;

/** Requests at a time. The client sends no more than the rate limit allows. */
const AT_ONCE = 8;

/** After this many failures in a row that are no fault of a key, the others are left. */
const MAX_FAILURES_IN_A_ROW = 8;

interface RevokeFlags extends ConnectionFlags, SelectionFlags {
  readonly reason: RevocationReason;
  readonly file?: string;
  readonly confirm?: boolean;
  readonly json?: boolean;
}

/** Key IDs to revoke. */
interface Chosen {
  readonly keyIds: readonly string[];
  /** False if the options select more keys than one call of the command revokes. */
  readonly isAll: boolean;
}

export function addRevoke(keys: Command, context: CliContext): void {
  const revoke = keys
    .command('revoke')
    .argument('[key_id...]', 'IDs of keys: phm_ and a number; - reads them from standard input')
    .description('revoke keys, permanently')
    .addOption(
      new Option('--reason <reason>', 'why').choices(REVOCATION_REASONS).makeOptionMandatory(),
    )
    .option('--file <file>', 'read the key IDs from a file');
  addSelectionOptions(revoke)
    .option('--confirm', 'do not ask')
    .option('--json', 'write one record a line as JSON');
  addConnectionOptions(revoke, HELP).action((given: string[], flags: RevokeFlags) =>
    revokeKeys(context, given, flags),
  );
}

async function revokeKeys(
  context: CliContext,
  given: readonly string[],
  flags: RevokeFlags,
): Promise<void> {
  const { reason } = flags;
  const { keyIds: listed, connection } = await prepare(context, given, flags);
  const { keyIds, isAll } = listed ?? (await select(connection, flags));
  if (keyIds.length === 0) {
    context.err('All keys that meet the options are revoked already.\n');
    return;
  }
  await requireConfirmation(context, keyIds, flags, given[0] !== '-');
  const [only] = keyIds;
  if (given.length === 1 && given[0] === only) {
    const { key } = await connection.ask((phm, signal) => phm.revokeKey(only, reason, { signal }));
    if (!flags.json) context.err(`The key is ${key.status}.\n`);
    writeKey(context, key, flags.json ?? false);
    return;
  }
  const rest = 'The keys that it wrote are revoked. Run the same command again for the others.';
  const run = new Run(context, connection, flags, keyIds);
  await connection.ask((phm, signal) => run.all(phm, signal), rest).finally(() => run.end());
  run.requireDone(rest);
  if (!isAll) throw new CommandError(`there are more keys than ${MAX_KEY_IDS}. ${rest}`, 1);
}

/** Checks the command line before a request is made. `keyIds` is null if options select the keys. */
async function prepare(
  context: CliContext,
  given: readonly string[],
  flags: RevokeFlags,
): Promise<{ keyIds: Chosen | null; connection: Connection }> {
  const { label, apiKey, createdAfter, createdBefore, file } = flags;
  const selects = label !== undefined || apiKey !== undefined;
  const isNarrowed = createdAfter !== undefined || createdBefore !== undefined;
  if (isNarrowed && !selects) {
    throw new CommandError('--created-after and --created-before need --label or --api-key', 2);
  }
  if ([given.length > 0, file !== undefined, selects].filter(Boolean).length !== 1) {
    throw new CommandError(
      'give exactly one of: key IDs, - for standard input, --file FILE, or --label and --api-key',
      2,
    );
  }
  if (selects) {
    selectionQuery(flags);
    return { keyIds: null, connection: new Connection(context, flags) };
  }
  if (given[0] !== '-') given.forEach(assertKeyId);
  const keyIds = [...parseKeyIds(await readKeyIdText(context, given, file)).keys()];
  return { keyIds: { keyIds, isAll: true }, connection: new Connection(context, flags) };
}

/** Reads which keys meet the options and are not revoked for this reason yet. */
async function select(connection: Connection, flags: RevokeFlags): Promise<Chosen> {
  const keyIds: string[] = [];
  let isAny = false;
  const isAll = await connection.ask(async (phm, signal) => {
    for await (const key of phm.listKeys({ ...selectionQuery(flags), limit: 100 }, { signal })) {
      isAny = true;
      if (isRevoked(key, flags.reason)) continue;
      if (keyIds.length === MAX_KEY_IDS) return false;
      keyIds.push(key.key_id);
    }
    return true;
  });
  if (!isAny) throw new CommandError('no key meets the options: nothing was revoked', 1);
  return { keyIds, isAll };
}

/** Reports whether a revocation for this reason changes nothing. */
function isRevoked({ status, revoked_at: revokedAt }: KeyInfo, reason: RevocationReason): boolean {
  return status === 'compromised' || (revokedAt !== null && reason !== 'key_compromise');
}

/** Says what would be revoked. Throws `CommandError` unless `--confirm`, or a person at a terminal, agrees. */
async function requireConfirmation(
  { err }: CliContext,
  keyIds: readonly string[],
  { confirm, reason }: RevokeFlags,
  isStdinFree: boolean,
): Promise<void> {
  const what = keyIds.length === 1 ? `the key ${keyIds[0]}` : `${keyIds.length} keys`;
  if (confirm) {
    if (keyIds.length > 1) err(`Revoking ${what} with the reason ${reason}.\n`);
    return;
  }
  const would = `This would revoke ${what}, for good, with the reason ${reason}.`;
  if (!isStdinFree || !process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CommandError(['nothing was revoked', `${would} To do it, add --confirm.`], 2);
  }
  err(`${would} Type yes to do it:\n`);
  if ((await readLine()).trim() !== 'yes') throw new CommandError('nothing was revoked', 1);
}

/** Resolves with the first line of standard input; empty if there is none. */
async function readLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    lines.close();
  }
}

/** The revocations of one call of the command. */
class Run {
  readonly #context: CliContext;
  readonly #connection: Connection;
  readonly #flags: RevokeFlags;
  readonly #keyIds: readonly string[];
  #next = 0;
  #revoked = 0;
  #failed = 0;
  #failedInARow = 0;

  constructor(
    context: CliContext,
    connection: Connection,
    flags: RevokeFlags,
    keyIds: readonly string[],
  ) {
    this.#context = context;
    this.#connection = connection;
    this.#flags = flags;
    this.#keyIds = keyIds;
  }

  async all(phm: PhmClient, signal: AbortSignal): Promise<void> {
    const lanes = Array.from({ length: AT_ONCE }, async () => {
      while (this.#next < this.#keyIds.length && !this.#isHopeless && !signal.aborted) {
        await this.#one(phm, signal, this.#keyIds[this.#next++] ?? '');
      }
    });
    await Promise.all(lanes);
    signal.throwIfAborted();
  }

  async #one(phm: PhmClient, signal: AbortSignal, keyId: string): Promise<void> {
    try {
      const { key } = await phm.revokeKey(keyId, this.#flags.reason, { signal });
      this.#revoked++;
      this.#failedInARow = 0;
      this.#context.status.clear();
      if (this.#flags.json) writeJson(this.#context, key);
      else this.#context.out(`${key.key_id}  ${key.status}\n`);
      this.#context.status.show(`revoked ${this.#revoked} of ${this.#keyIds.length} keys`);
    } catch (error) {
      if (!signal.aborted) this.#report(keyId, error);
    }
  }

  #report(keyId: string, error: unknown): void {
    const explained = this.#connection.explain(error);
    if (!(explained instanceof CommandError)) throw explained;
    this.#failed++;
    const isOfKey = error instanceof PhmApiError && error.status === 404;
    if (!isOfKey) this.#failedInARow++;
    this.#context.status.clear();
    this.#context.err(`${keyId} is not revoked: ${explained.lines.join(' ')}\n`);
  }

  get #isHopeless(): boolean {
    return this.#failedInARow >= MAX_FAILURES_IN_A_ROW;
  }

  /** Removes the progress line. */
  end(): void {
    this.#context.status.clear();
  }

  /** Writes the sum. Throws `CommandError` if a key is not revoked. */
  requireDone(rest: string): void {
    const count = this.#keyIds.length;
    if (this.#revoked === count) {
      this.#context.err(`Revoked ${count === 1 ? '1 key' : `${count} keys`}.\n`);
      return;
    }
    const left = count - this.#revoked - this.#failed;
    const untried = left === 0 ? '' : `, and ${left} were not tried`;
    throw new CommandError([`${this.#failed} of ${count} keys failed${untried}`, rest], 1);
  }
}
