/** `phm deliveries`: sealed keys that wait at a running service for recipients. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import {
  CommandError,
  jsonLine,
  parseCountTo,
  unwritable,
  writeJson,
  writeTable,
} from '#platform/commands';
import type { DeliveryList, FetchResult, PhmClient } from '../../../sdk/src/index.ts';
import { BOX_STATES } from '../../ledger/index.ts';
import { type CliContext, requireReader } from '../context.ts';
import { addConnectionOptions, Connection, type ConnectionFlags } from './connection.ts';
import { KeyFile } from './key-file.ts';

const GROUP_HELP = `
A request for a sealed key with "deliver" keeps a copy for each registered recipient. An API key with the scope receive
fetches the copies of its recipients; one without scopes those of its whole account.
`;

const LIST_HELP = `
The list has the oldest keys first. With --wait and no copy, it ends with the next copy, or after so many seconds.
Exit code: 0 the list was written, 1 failed, 2 wrong usage.

Examples:
  phm deliveries list --recipient paris
  phm deliveries list --recipient paris --wait 30 --json
`;

const FETCH_HELP = `
Without an ID it fetches what waits, up to 100 copies. It writes one a line as JSON, or each to a file of --output-dir, which
is named by the ID. "phm open" opens such a file and checks its receipt. A copy can be fetched again until it is removed.
Exit code: 0 all were fetched, or none waits, 1 failed, also for one of several IDs, 2 wrong usage.

Examples:
  phm deliveries fetch --recipient paris --output-dir keys
  phm deliveries fetch 3c1f0a52-7c1e-4a0b-9f55-0d8f6a2b9e11 --recipient paris > one.sealed
`;

const REMOVE_HELP = `
The service deletes the copies. Those of other recipients stay. Repeating the command does no harm.
Exit code: 0 none of them is in the box any more, 1 failed, also if all are unknown, 2 wrong usage.

Example:
  phm deliveries remove 3c1f0a52-7c1e-4a0b-9f55-0d8f6a2b9e11 --recipient paris
`;

const SHOW_HELP = `
It shows the state at each recipient, for the account that generated the key (scope generate or read).
Exit code: 0 the states were written, 1 failed, also if the account has no such delivery, 2 wrong usage.

Example:
  phm deliveries show 3c1f0a52-7c1e-4a0b-9f55-0d8f6a2b9e11
`;

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 10_000;

/** Largest page, and most copies of one request, that the service answers. */
const MAX_PAGE = 1_000;
const MAX_TAKEN = 100;
const MAX_WAIT = 30;

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

interface BoxFlags extends ConnectionFlags {
  readonly recipient: string;
  readonly json?: boolean;
}

interface ListFlags extends BoxFlags {
  readonly state: (typeof BOX_STATES)[number];
  readonly limit: number;
  readonly wait?: number;
}

interface FetchFlags extends BoxFlags {
  readonly outputDir?: string;
}

type Copy = DeliveryList['deliveries'][number];
type Fetched = FetchResult['deliveries'][number];

export function addDeliveriesCommands(program: Command, context: CliContext): void {
  const deliveries = program
    .command('deliveries')
    .description('list, fetch and remove sealed keys that wait for a recipient')
    .addHelpText('after', GROUP_HELP);
  const list = deliveries
    .command('list')
    .description('list the copies for a recipient, the oldest keys first')
    .requiredOption('--recipient <name>', 'name of the recipient')
    .addOption(
      new Option('--state <state>', 'copies in this state').choices(BOX_STATES).default('waiting'),
    )
    .option('--limit <n>', 'number of copies at most', parseCountTo(MAX_LIMIT), DEFAULT_LIMIT)
    .addOption(
      new Option('--wait <seconds>', 'wait for a copy if none waits').argParser(
        parseCountTo(MAX_WAIT),
      ),
    )
    .option('--json', 'write one copy a line as JSON');
  addConnectionOptions(list, LIST_HELP).action((flags: ListFlags) => listCopies(context, flags));
  const fetch = deliveries
    .command('fetch')
    .argument('[id...]', 'IDs of deliveries; none: what waits')
    .description('fetch sealed keys of a recipient, with their receipts')
    .requiredOption('--recipient <name>', 'name of the recipient')
    .option('--output-dir <dir>', 'write each to a new file of this directory');
  addConnectionOptions(fetch, FETCH_HELP).action((ids: string[], flags: FetchFlags) =>
    fetchCopies(context, ids, flags),
  );
  const remove = deliveries
    .command('remove')
    .argument('<id...>', 'IDs of deliveries')
    .description('remove copies from the box of a recipient')
    .requiredOption('--recipient <name>', 'name of the recipient')
    .option('--json', 'write the states as JSON');
  addConnectionOptions(remove, REMOVE_HELP).action((ids: string[], flags: BoxFlags) =>
    removeCopies(context, ids, flags),
  );
  const show = deliveries
    .command('show')
    .argument('<id>', 'ID of the delivery')
    .description('show the state of a delivery at its recipients')
    .option('--json', 'write the states as JSON');
  addConnectionOptions(show, SHOW_HELP).action((id: string, flags: BoxFlags) =>
    showDelivery(context, id, flags),
  );
}

async function listCopies(context: CliContext, flags: ListFlags): Promise<void> {
  if (flags.wait !== undefined && flags.state !== 'waiting') {
    throw new CommandError('--wait does not go with --state received', 2);
  }
  const connection = new Connection(context, flags);
  const { copies, isAll } = await connection.ask((phm, signal) => readCopies(phm, flags, signal));
  if (flags.json) for (const copy of copies) writeJson(context, copy);
  else {
    const rows = copies.map((copy) => [copy.delivery_id, copy.key_id, copy.until]);
    writeTable(context, ['DELIVERY', 'KEY', 'UNTIL'], rows);
  }
  if (copies.length === 0) context.err('No copies found.\n');
  if (!isAll) context.err(`There are more copies: --limit ${flags.limit} ends the list here.\n`);
}

async function readCopies(
  phm: PhmClient,
  { recipient, state, limit, wait }: ListFlags,
  signal: AbortSignal,
): Promise<{ copies: Copy[]; isAll: boolean }> {
  const copies: Copy[] = [];
  let cursor: string | null = null;
  do {
    const query = {
      ...{ recipient, state, limit: Math.min(limit - copies.length, MAX_PAGE) },
      ...(cursor !== null && { cursor }),
      ...(wait !== undefined && cursor === null && { wait }),
    };
    const page: DeliveryList = await phm.deliveries.list(query, { signal });
    copies.push(...page.deliveries);
    cursor = page.next_cursor;
  } while (cursor !== null && copies.length < limit);
  return { copies, isAll: cursor === null };
}

async function fetchCopies(
  context: CliContext,
  given: readonly string[],
  flags: FetchFlags,
): Promise<void> {
  assertIds(given);
  const { recipient, outputDir } = flags;
  if (outputDir === undefined) requireReader(context);
  else makeDirectory(outputDir);
  const connection = new Connection(context, flags);
  const ids = given.length > 0 ? given : await waitingIds(connection, recipient);
  if (ids.length === 0) {
    context.err('No copy waits.\n');
    return;
  }
  const { deliveries } = await connection.ask((phm, signal) =>
    phm.deliveries.fetch(recipient, ids, { signal }),
  );
  const received = deliveries.filter(({ state }) => state === 'received');
  for (const copy of received) writeCopy(context, copy, outputDir);
  if (outputDir !== undefined) {
    context.err(`Wrote ${received.length} of ${ids.length} sealed keys to ${outputDir}\n`);
  }
  const others = deliveries.filter(({ state }) => state !== 'received');
  if (others.length === 0) return;
  throw new CommandError(
    others.map(({ delivery_id: id, state }) => `${id} cannot be fetched: it is ${state}`),
    1,
  );
}

async function waitingIds(connection: Connection, recipient: string): Promise<string[]> {
  const { deliveries } = await connection.ask((phm, signal) =>
    phm.deliveries.list({ recipient, limit: MAX_TAKEN }, { signal }),
  );
  return deliveries.map(({ delivery_id: id }) => id);
}

function writeCopy(context: CliContext, copy: Fetched, outputDir: string | undefined): void {
  if (outputDir === undefined) {
    writeJson(context, copy);
    return;
  }
  const path = join(outputDir, `${copy.delivery_id}.sealed`);
  KeyFile.claim(path, true).save(Buffer.from(jsonLine(copy)));
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unwritable(path, error);
  }
}

async function removeCopies(
  context: CliContext,
  ids: readonly string[],
  flags: BoxFlags,
): Promise<void> {
  assertIds(ids);
  const connection = new Connection(context, flags);
  const { deliveries } = await connection.ask((phm, signal) =>
    phm.deliveries.remove(flags.recipient, ids, { signal }),
  );
  if (flags.json) for (const one of deliveries) writeJson(context, one);
  else {
    const rows = deliveries.map(({ delivery_id: id, state }) => [id, state]);
    writeTable(context, ['DELIVERY', 'STATE'], rows);
  }
}

async function showDelivery(context: CliContext, id: string, flags: BoxFlags): Promise<void> {
  assertIds([id]);
  const connection = new Connection(context, flags);
  const { delivery } = await connection.ask((phm, signal) => phm.deliveries.state(id, { signal }));
  if (flags.json) {
    writeJson(context, delivery);
    return;
  }
  context.err(`Key ${delivery.key_id}; its copies expire at ${delivery.until}.\n`);
  const rows = delivery.recipients.map((one) => [
    one.recipient,
    one.state,
    one.received_at ?? 'never',
  ]);
  writeTable(context, ['RECIPIENT', 'STATE', 'FETCHED'], rows);
}

function assertIds(ids: readonly string[]): void {
  if (ids.length > MAX_TAKEN) throw new CommandError(`give at most ${MAX_TAKEN} IDs at a time`, 2);
  const wrong = ids.find((id) => !ID.test(id));
  if (wrong !== undefined) {
    throw new CommandError('the ID of a delivery is a lower-case UUID, as the list shows it', 2);
  }
  if (new Set(ids).size < ids.length) throw new CommandError('give each ID once', 2);
}
