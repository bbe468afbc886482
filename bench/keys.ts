/**
 * Measures key records in a large ledger: pages of an account's keys, single records, states, and revocations.
 *
 *   node bench/keys.ts --fill --rows 10000000 (--path D/phm.db | --database-url postgres://…)
 *   node bench/keys.ts (--path D/phm.db | --database-url postgres://…) [--calls N] [--save]
 *
 * The first form fills a new ledger, which takes minutes, and leaves it. One row in 100,000 belongs to a second account,
 * whose keys are far apart. The second form measures it: each call begins at a key ID of a random time.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { AuditRecord, LedgerStore } from '../src/ledger/index.ts';
import { openPostgresStore } from '../src/ledger/postgres/store.ts';
import {
  ACCOUNT,
  commitmentOf,
  keyIdAt,
  PostgresLedger,
  SPARSE_ACCOUNT,
  SqliteLedger,
} from './ledger-fill.ts';
import { machine, saveResult } from './results.ts';

const SPARSE_EVERY = 100_000;
const DAY_MS = 86_400_000;
const QUOTAS = { enterprise: null };

/** Rows that one call of a filtered list scans at most. */
const SCANNED = 1_000;

interface Options {
  readonly fill: boolean;
  readonly rows: number;
  readonly path: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly calls: number;
  readonly save: boolean;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      fill: { type: 'boolean', default: false },
      rows: { type: 'string', default: '10000000' },
      path: { type: 'string' },
      'database-url': { type: 'string' },
      calls: { type: 'string', default: '500' },
      save: { type: 'boolean', default: false },
    },
  });
  if ((values.path === undefined) === (values['database-url'] === undefined)) {
    throw new RangeError('give either --path or --database-url');
  }
  return {
    fill: values.fill,
    rows: positive('--rows', values.rows),
    path: values.path,
    databaseUrl: values['database-url'],
    calls: positive('--calls', values.calls),
    save: values.save,
  };
}

function positive(flag: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new RangeError(`${flag} takes whole numbers from 1, not "${text}"`);
}

/** A key ID of a random time in the ledger. */
const anyKeyId = (): Uint8Array =>
  keyIdAt(Date.now() - Math.floor(Math.random() * 180 * DAY_MS), randomBytes(32));

function page(
  store: LedgerStore,
  accountId: string,
  beforeKeyId: Uint8Array | null,
  limit: number,
) {
  return store.listKeys({ accountId, beforeKeyId, fromKeyId: null, limit });
}

/** Returns IDs of keys of the dense account, at random times. */
async function knownKeys(store: LedgerStore, count: number): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  while (found.length < count) {
    const { keys } = await page(store, ACCOUNT, anyKeyId(), 1);
    if (keys[0]) found.push(keys[0].keyId);
  }
  return found;
}

function audit(): AuditRecord {
  const auditId = keyIdAt(Date.now(), randomBytes(32));
  const stated = { action: 'key_revoked', details: '{}', salt: randomBytes(32) } as const;
  return { auditId, atMs: Date.now(), ...stated, pending: null };
}

type Call = (i: number) => Promise<unknown>;

async function callsOf(store: LedgerStore, calls: number): Promise<[string, Call][]> {
  const keyIds = await knownKeys(store, calls);
  const unknown = Array.from({ length: calls }, (_, i) => {
    const digest = commitmentOf(1e12 + i);
    return { version: 1, digest, fingerprint: digest.readBigInt64BE(0) };
  });
  return [
    ['page of 50, newest', () => page(store, ACCOUNT, null, 50)],
    ['page of 50, anywhere', () => page(store, ACCOUNT, anyKeyId(), 50)],
    ['scan of 1,000, anywhere', () => page(store, ACCOUNT, anyKeyId(), SCANNED)],
    ['page of 50, keys far apart', () => page(store, SPARSE_ACCOUNT, anyKeyId(), 50)],
    ['page of an account without keys', () => page(store, 'acct_none', null, 50)],
    ['record of a key', (i) => store.findKeyRecord(ACCOUNT, keyIds[i])],
    ['record of a foreign key', (i) => store.findKeyRecord(SPARSE_ACCOUNT, keyIds[i])],
    ['state, unknown', (i) => store.findStates([unknown[i]])],
    ['revocation', (i) => revoke(store, keyIds[i])],
    ['page of 50 after revocations', () => page(store, ACCOUNT, anyKeyId(), 50)],
  ];
}

function revoke(store: LedgerStore, keyId: Uint8Array) {
  const order = { accountId: ACCOUNT, keyId, atMs: Date.now() } as const;
  const revocation = { ...order, state: 'compromised', reason: 'unspecified' } as const;
  return store.revokeKeys([{ order: revocation, audit: audit() }]);
}

async function measure(store: LedgerStore, calls: number): Promise<string> {
  const lines = [`${'ms'.padEnd(34)}median     p99     max`];
  for (const [name, call] of await callsOf(store, calls)) {
    const times: number[] = [];
    for (let i = 0; i < calls; i++) {
      const from = performance.now();
      await call(i);
      times.push(performance.now() - from);
    }
    times.sort((a, b) => a - b);
    const at = (part: number) => times[Math.min(calls - 1, Math.floor(part * calls))].toFixed(2);
    const figures = [at(0.5), at(0.99), at(1)].map((text) => text.padStart(8));
    lines.push(`  ${name.padEnd(32)}${figures.join('')}`);
  }
  return lines.join('\n');
}

async function run(options: Options): Promise<void> {
  const { fill, rows, path, databaseUrl, calls, save } = options;
  if (fill) {
    const ledger = path === undefined ? await PostgresLedger.create(databaseUrl ?? '') : null;
    await (ledger ?? new SqliteLedger(path ?? '')).fill(rows, SPARSE_EVERY);
    await ledger?.end();
    return;
  }
  const store =
    path === undefined
      ? await openPostgresStore({ url: databaseUrl ?? '', quotas: QUOTAS })
      : await new SqliteLedger(path).open();
  const text = `${machine()}\n${path === undefined ? 'PostgreSQL' : 'SQLite'}, ${calls} calls each\n\n${await measure(store, calls)}\n`;
  await store.close();
  process.stdout.write(text);
  if (save) saveResult('keys', text);
}

await run(readOptions());
