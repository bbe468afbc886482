/** `phm ledger find`: names the owners of keys. After a latch the log lists only key IDs. */

import type { Command } from 'commander';
import { writeJson, writeTable } from '#platform/commands';
import { formatTimestamp } from '../../clock.ts';
import type { LedgerStore, RecordedKey } from '../../ledger/index.ts';
import type { CliContext } from '../context.ts';
import { parseKeyIds, readKeyIdText } from '../key-id-list.ts';
import { counted } from './row-counts.ts';
import { withStoreToRead } from './with-store.ts';

/** Key IDs in one query. */
const BATCH = 1_000;

const HELP = `
KEY_ID is the key_id of an answer: phm_ and a number. White space, commas, quotes and brackets separate key IDs, so
you can paste a list from a log line. Key IDs without a row in this ledger are listed as unknown: the key was never
recorded here, or its row was pruned. SEALED TO is the thumbprint of the recipient, as "phm recipient list" shows it. The
server may run.

Examples:
  phm ledger find phm_2170447811675921486708632360111591537
  grep 'plain keys released' phm.log | grep -o 'phm_[0-9]*' | phm ledger find -
`;

interface FindOptions {
  readonly file?: string;
  readonly json?: boolean;
}

/** A given key ID and its key; null without a row. */
interface Found {
  readonly keyId: string;
  readonly key: RecordedKey | null;
}

export function addFindCommand(ledger: Command, context: CliContext): void {
  ledger
    .command('find')
    .argument('[key_id...]', 'IDs of keys; - reads them from standard input')
    .description('show which accounts own the given keys, and their rows in the ledger')
    .option('--file <file>', 'read the key IDs from a file')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', HELP)
    .action((given: string[], options: FindOptions) => find(context, given, options));
}

async function find(
  context: CliContext,
  given: readonly string[],
  options: FindOptions,
): Promise<void> {
  const keyIds = parseKeyIds(await readKeyIdText(context, given, options.file));
  const found = await withStoreToRead(context, (store) => findAll(store, keyIds));
  if (options.json) writeResult(context, found);
  else writeList(context, found);
}

async function findAll(
  store: LedgerStore,
  keyIds: ReadonlyMap<string, Uint8Array>,
): Promise<Found[]> {
  const asked = [...keyIds];
  const found: Found[] = [];
  for (let first = 0; first < asked.length; first += BATCH) {
    const batch = asked.slice(first, first + BATCH);
    const keys = await store.findKeys(batch.map(([, bytes]) => bytes));
    found.push(...batch.map(([keyId], i) => ({ keyId, key: keys[i] ?? null })));
  }
  return found;
}

function writeResult(context: CliContext, found: readonly Found[]): void {
  writeJson(context, {
    keys: found.flatMap(({ keyId, key }) => (key ? [{ key_id: keyId, ...columnsOf(key) }] : [])),
    unknown: found.filter(({ key }) => key === null).map(({ keyId }) => keyId),
  });
}

function columnsOf(key: RecordedKey) {
  const recipients = key.recipients.map((one) => Buffer.from(one).toString('base64'));
  return {
    account_id: key.accountId,
    account_name: key.accountName,
    api_key_id: key.apiKeyId,
    created_at: formatTimestamp(key.createdMs),
    security_level: key.securityLevel,
    modulation_type: key.modulation,
    validated: key.hasEvidence,
    sealed_to: recipients[0] ?? null,
    recipients,
  };
}

/** Writes a table to standard output, grouped by account, and the sums to standard error. */
function writeList(context: CliContext, found: readonly Found[]): void {
  const byAccount = Map.groupBy(found, ({ key }) => key?.accountId ?? null);
  const unknown = byAccount.get(null)?.length ?? 0;
  byAccount.delete(null);
  writeTable(
    context,
    [
      'KEY ID',
      'ACCOUNT',
      'NAME',
      'API KEY',
      'CREATED',
      'LEVEL',
      'MODULATION',
      'VALIDATED',
      'SEALED TO',
    ],
    [...byAccount.values()].flat().map(({ keyId, key }) => [keyId, ...cellsOf(key)]),
  );
  for (const { keyId, key } of found) if (key === null) context.out(`${keyId}  unknown\n`);
  const known = found.length - unknown;
  const sums = `${counted(known, 'key')} of ${counted(byAccount.size, 'account')}`;
  context.err(`Found ${sums}. Without a row: ${unknown.toLocaleString('en')}.\n`);
}

function cellsOf(key: RecordedKey | null): string[] {
  if (key === null) return [];
  const { validated, account_name, recipients, ...columns } = columnsOf(key);
  return [
    columns.account_id,
    account_name ?? '-',
    columns.api_key_id,
    columns.created_at,
    String(columns.security_level),
    columns.modulation_type,
    validated ? 'yes' : 'no',
    recipients.join(',') || '-',
  ];
}
