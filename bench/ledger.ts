/**
 * Measures the cost of the ledger as it grows: commits, look-ups, metrics and bytes at several numbers of rows.
 *
 *   node bench/ledger.ts [--rows 10000,100000,1000000] [--stores sqlite,postgres] [--rounds N]
 *     [--data-dir D] [--database-url postgres://…] [--set name=value]… [--save]
 *
 * Each number of rows has its own ledger, filled row by row in time order over six months with random
 * commitments, as real commits leave it. Answers are checked before timing. Batch sizes take turns, round
 * after round. Without --database-url, PostgreSQL is a cluster in the folder for temporary files. A database
 * that you name must be empty, and is left full.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { AccountActivity, LedgerStore, MeteredRequest } from '../src/ledger/index.ts';
import { Postgres } from '../test/support/ledgers/postgres.ts';
import { plainRow } from '../test/support/servers/fakes.ts';
import {
  ACCOUNT,
  API_KEY,
  commitmentOf,
  type FilledLedger,
  keyIdAt,
  PostgresLedger,
  SqliteLedger,
} from './ledger-fill.ts';
import { diskSync, machine, median, saveResult } from './results.ts';

const HOUR_MS = 3_600_000;
const YEAR_HOURS = 8_760;
const BATCHES = [10, 100, 1_000];

/** Number of commits per round, by batch size. */
const COMMITS: Readonly<Record<number, number>> = { 10: 50, 100: 20, 1000: 5 };
const LOOKUPS = 500;
const METRICS = 20;
const CHECKED = 20;

const STORES = ['sqlite', 'postgres'] as const;
type StoreName = (typeof STORES)[number];

interface Options {
  readonly rows: readonly number[];
  readonly stores: readonly StoreName[];
  readonly rounds: number;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  /** Settings of the PostgreSQL that the benchmark starts, as `name=value`. */
  readonly settings: readonly string[];
  readonly save: boolean;
}

/** Times of one ledger in microseconds. */
interface Times {
  readonly perKey: ReadonlyMap<number, number[]>;
  readonly found: number[];
  readonly missing: number[];
  readonly metrics: number[];
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '10000,100000,1000000' },
      stores: { type: 'string', default: STORES.join() },
      rounds: { type: 'string', default: '6' },
      'data-dir': { type: 'string', default: tmpdir() },
      'database-url': { type: 'string' },
      set: { type: 'string', multiple: true, default: [] },
      save: { type: 'boolean', default: false },
    },
  });
  return {
    rows: values.rows.split(',').map((text) => positive('--rows', text)),
    stores: values.stores.split(',').map(storeName),
    rounds: positive('--rounds', values.rounds),
    dataDir: values['data-dir'],
    databaseUrl: values['database-url'],
    settings: values.set,
    save: values.save,
  };
}

function positive(flag: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new RangeError(`${flag} takes whole numbers from 1, not "${text}"`);
}

function storeName(text: string): StoreName {
  const name = STORES.find((one) => one === text);
  if (name) return name;
  throw new RangeError(`--stores takes ${STORES.join(' and ')}, not "${text}"`);
}

function check(holds: boolean, claim: string): void {
  if (!holds) throw new Error(`a check of the ledger failed, nothing was timed: ${claim}`);
}

const query = (digest: Buffer) => ({
  version: 1,
  digest,
  fingerprint: digest.readBigInt64BE(0),
});

/** Returns the number of an existing row, each equally likely. */
const anyOf = (rows: number) => Math.floor(Math.random() * rows);

/** Numbers of keys that are not yet in the ledger; each is used once. */
let unused = 1e12;
const nextUnused = () => unused++;

const yearOf = (store: LedgerStore): Promise<AccountActivity> =>
  store.activity(ACCOUNT, Date.now() - YEAR_HOURS * HOUR_MS);

async function verify(store: LedgerStore, rows: number): Promise<void> {
  for (let i = 0; i < CHECKED; i++) {
    const asked = [commitmentOf(anyOf(rows)), commitmentOf(nextUnused())].map(query);
    const [known, unknown] = await store.findCommitments(asked);
    check(known !== null, 'a commitment of the ledger is found');
    check(unknown === null, 'a commitment from elsewhere is not');
  }
  const { keys } = await yearOf(store);
  check(Math.abs(keys - YEAR_HOURS) <= 1, `the sums of a year are ${keys}, not one an hour`);
  const [repeated] = await store.commit([request(commitmentOf(anyOf(rows)))], []);
  check(repeated?.kind === 'repeated_key', 'a key of the ledger is refused');
}

function request(digest: Buffer): MeteredRequest {
  const atMs = Date.now();
  const commitment = { version: 1, digest, fingerprint: digest.readBigInt64BE(0) };
  return {
    accountId: ACCOUNT,
    apiKeyId: API_KEY,
    atMs,
    keys: [{ ...plainRow(), keyId: keyIdAt(atMs, digest), commitment, createdMs: atMs }],
    counts: { streams: 0, streamsPassed: 0 },
    idempotency: null,
  };
}

/** Returns the microseconds of each of `count` calls. */
async function time(count: number, call: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const from = performance.now();
    await call();
    times.push(1_000 * (performance.now() - from));
  }
  return times;
}

async function measureCommits(store: LedgerStore, size: number): Promise<number[]> {
  const batches = Array.from({ length: COMMITS[size] }, () =>
    Array.from({ length: size }, () => request(commitmentOf(nextUnused()))),
  );
  const times = await time(batches.length, async () => {
    const outcomes = await store.commit(batches.pop() ?? [], []);
    check(
      outcomes.every(({ kind }) => kind === 'committed'),
      'every key of a batch is committed',
    );
  });
  return times.map((us) => us / size);
}

async function measure(store: LedgerStore, rows: number, rounds: number): Promise<Times> {
  const perKey = new Map<number, number[]>(BATCHES.map((size) => [size, []]));
  const times: Times = { perKey, found: [], missing: [], metrics: [] };
  for (const size of BATCHES) await measureCommits(store, size);
  const find = (digest: Buffer) => store.findCommitments([query(digest)]);
  for (let round = 0; round < rounds; round++) {
    for (const [size, done] of perKey) done.push(...(await measureCommits(store, size)));
    times.found.push(...(await time(LOOKUPS, () => find(commitmentOf(anyOf(rows))))));
    times.missing.push(...(await time(LOOKUPS, () => find(commitmentOf(nextUnused())))));
    times.metrics.push(...(await time(METRICS, () => yearOf(store))));
  }
  return times;
}

function percentile99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))];
}

const HEADING =
  'store           rows    per key, batch of 10         of 100        of 1,000     found   missing   metrics   bytes a row\n' +
  '                            median       p99  median   p99  median   p99                           table  indexes';

interface Result {
  readonly rows: number;
  readonly times: Times;
}

async function measureLedger(
  name: StoreName,
  ledger: FilledLedger,
  rows: number,
  rounds: number,
): Promise<{ line: string; result: Result }> {
  process.stderr.write(`${name}: filling ${rows} rows\n`);
  const from = performance.now();
  await ledger.fill(rows);
  const { table, indexes } = await ledger.bytes();
  process.stderr.write(`${name}: filled in ${Math.round((performance.now() - from) / 1_000)} s\n`);
  const store = await ledger.open();
  try {
    await verify(store, rows);
    const times = await measure(store, rows, rounds);
    const commits = BATCHES.flatMap((size) => {
      const done = times.perKey.get(size) ?? [];
      return [median(done), percentile99(done)];
    });
    const cells = [
      name.padEnd(10),
      String(rows).padStart(9),
      ...commits.map((us) => us.toFixed(1).padStart(9)),
      ...[times.found, times.missing, times.metrics].map((all) =>
        median(all).toFixed(0).padStart(9),
      ),
      ...[table, indexes].map((all) => (all / rows).toFixed(0).padStart(8)),
    ];
    return { line: cells.join(' '), result: { rows, times } };
  } finally {
    await store.close();
  }
}

/** Returns a line with the costs of a store's largest ledger relative to its smallest. */
function growth(name: StoreName, results: readonly Result[]): string {
  const [first, last] = [results[0], results.at(-1)];
  if (!first || !last || first === last) return '';
  const ratio = (of: (times: Times) => readonly number[]) =>
    (median(of(last.times)) / median(of(first.times))).toFixed(2);
  const commits = BATCHES.map((size) => ratio(({ perKey }) => perKey.get(size) ?? [])).join(' / ');
  return (
    `${name}: ${last.rows} rows against ${first.rows}: per key ${commits}, found ${ratio(({ found }) => found)}, ` +
    `missing ${ratio(({ missing }) => missing)}, metrics ${ratio(({ metrics }) => metrics)}`
  );
}

async function run(options: Options, folder: string): Promise<string> {
  const lines: string[] = [];
  const ratios: string[] = [];
  for (const name of options.stores) {
    const postgres =
      name === 'postgres' && !options.databaseUrl
        ? await Postgres.start(undefined, options.settings)
        : undefined;
    const url = options.databaseUrl ?? (await postgres?.createDatabase('bench')) ?? '';
    const postgresLedger = name === 'postgres' ? await PostgresLedger.create(url) : undefined;
    try {
      const results: Result[] = [];
      for (const rows of options.rows) {
        const ledger = postgresLedger ?? new SqliteLedger(join(folder, `${rows}.db`));
        const { line, result } = await measureLedger(name, ledger, rows, options.rounds);
        lines.push(line);
        results.push(result);
      }
      ratios.push(growth(name, results));
    } finally {
      await postgresLedger?.end();
      await postgres?.remove();
    }
  }
  return `${[
    machine(),
    `disk sync of 4 KiB in --data-dir: ${diskSync(folder)}`,
    `${options.rounds} rounds; a round is ${BATCHES.map((size) => `${COMMITS[size]} commits of ${size}`).join(', ')}, ${LOOKUPS} lookups of either kind and ${METRICS} metrics`,
    'The driver, the client and the database share the cores.',
    '',
    HEADING,
    ...lines,
    'Microseconds. found, missing: one lookup by commitment; metrics: the sums of 8,760 hours. All medians but p99.',
    'Commits add rows, so a ledger with few rows grows to several times its size during the run.',
    ...ratios.filter((line) => line !== ''),
  ].join('\n')}\n`;
}

const options = readOptions();
mkdirSync(options.dataDir, { recursive: true });
const folder = mkdtempSync(join(options.dataDir, 'phm-bench-'));
try {
  const text = await run(options, folder);
  process.stdout.write(text);
  if (options.save) saveResult('ledger', text);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
