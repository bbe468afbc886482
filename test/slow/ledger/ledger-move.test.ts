import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import {
  exportLedger,
  importLedger,
  openMovableStore,
  verifyLedger,
} from '../../../src/ledger/admin.ts';
import { type LedgerStore, openSqliteStore } from '../../../src/ledger/index.ts';
import { TABLE_NAMES, type TableName } from '../../../src/ledger/tables.ts';
import { keyRequest, makeRow, NOW, QUOTAS } from '../../ledger/contract.ts';
import {
  assertSameRecords,
  assertSameStates,
  assertSameStore,
  assertSealed,
  type Filled,
  fillApiKeys,
  fillRecords,
  fillSealed,
  fillStates,
  fillStore,
} from '../../ledger/filled-store.ts';
import { batchOf, seal } from '../../ledger/sealing-contract.ts';

const PLANS = Object.keys(QUOTAS);
const NEVER = new AbortController().signal;

const directory = mkdtempSync(join(tmpdir(), 'phm-move-'));
after(() => rmSync(directory, { recursive: true, force: true }));

let databases = 0;
const newPath = () => join(directory, `${++databases}.db`);
const open = (path: string): LedgerStore => openSqliteStore({ path, quotas: QUOTAS });
const movable = (path: string) => openMovableStore({ kind: 'sqlite', path });

async function exportText(path: string, onWrite = async () => {}): Promise<string> {
  const chunks: Uint8Array[] = [];
  const put = async (bytes: Uint8Array) => {
    chunks.push(bytes);
    await onWrite();
  };
  await exportLedger(await movable(path), NOW, put, NEVER);
  return Buffer.concat(chunks).toString();
}

/** Yields the text in chunks that end anywhere. */
async function* chunksOf(text: string | Buffer, size = 1_000): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text as string);
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}

async function importText(path: string, text: string | Buffer, signal = NEVER): Promise<void> {
  await importLedger(await movable(path), chunksOf(text), PLANS, signal);
}

/** Returns the lines with a matching trailer. */
function sealed(lines: readonly string[], rows?: object): string {
  const body = lines
    .slice(0, -1)
    .map((line) => `${line}\n`)
    .join('');
  const trailer = JSON.parse(lines.at(-1) ?? '');
  const sha256 = createHash('sha256').update(body).digest('hex');
  return `${body}${JSON.stringify({ ...trailer, ...(rows && { rows }), sha256 })}\n`;
}

type NamedRow = Readonly<Record<string, unknown>>;

/** Returns the export with these values in each row of a table that fits. Fails if that changes nothing. */
function changeRows(
  exported: string,
  table: TableName,
  fits: (row: NamedRow) => boolean,
  by: NamedRow,
): string {
  const lines = exported.trimEnd().split('\n');
  let section: { table?: string; columns?: string[] } = {};
  const changed = lines.map((line) => {
    const json = JSON.parse(line);
    if (!Array.isArray(json)) section = json;
    if (!Array.isArray(json) || section.table !== table) return line;
    const { columns = [] } = section;
    const row = Object.fromEntries(columns.map((name, i) => [name, json[i]]));
    if (!fits(row)) return line;
    return JSON.stringify(columns.map((name) => (name in by ? by[name] : row[name])));
  });
  assert.notDeepEqual(changed, lines, `a row of ${table} changes`);
  return sealed(changed);
}

/** Imports the export, changed as by `changeRows`, into a new ledger. */
async function importChanged(
  exported: string,
  ...change: [TableName, (row: NamedRow) => boolean, NamedRow]
): Promise<void> {
  await importText(newPath(), changeRows(exported, ...change));
}

function isEmpty(path: string): boolean {
  const database = new DatabaseSync(path);
  const counts = TABLE_NAMES.map((table) =>
    database.prepare(`SELECT count(*) AS n FROM ${table}`).get(),
  );
  database.close();
  return counts.every((row) => row?.n === 0);
}

describe('a ledger move', () => {
  const source = newPath();
  let store: LedgerStore;
  let filled: Filled;
  let text: string;
  let lines: readonly string[];

  before(async () => {
    store = open(source);
    filled = await fillStore(store);
    text = await exportText(source);
    lines = text.trimEnd().split('\n');
  });
  after(() => store.close());

  /** Returns the number of the first line, from 1, that begins with `start`. */
  const lineOf = (start: string) => lines.findIndex((line) => line.startsWith(start)) + 1;

  it('copies everything to another store, which exports the same file', async () => {
    const path = newPath();
    const target = open(path);
    await importText(path, text);
    assert.equal(await exportText(path), text);
    await assertSameStore(store, target, filled);
    await target.close();
  });

  it('copies labels, expiries and revocations', async () => {
    const [from, to] = [newPath(), newPath()];
    const [source, target] = [open(from), open(to)];
    const rows = await fillRecords(source);
    const exported = await exportText(from);
    await importText(to, exported);
    assert.equal(await exportText(to), exported);
    await assertSameRecords(source, target, rows);
    const location = { kind: 'sqlite', path: to } as const;
    const verified = await verifyLedger(location, {
      ...{ nowMs: NOW, signal: NEVER, onProgress: () => {} },
    });
    assert.deepEqual(verified.findings, []);
    const change = (...how: [TableName, (row: NamedRow) => boolean, NamedRow]) =>
      importChanged(exported, ...how);
    const isUnspecified = ({ reason }: NamedRow) => reason === 'unspecified';
    await assert.rejects(
      change('key_states', isUnspecified, { reason: null }),
      /only some of state, reason,/,
    );
    await assert.rejects(
      change('key_states', isUnspecified, { reason: 'boredom' }),
      /reason must be one of/,
    );
    await assert.rejects(
      change('ledger', ({ labels }) => labels !== null, { labels: '{"a":1}' }),
      /labels must be a JSON object/,
    );
    for (const store of [source, target]) await store.close();
  });

  it('copies the rules and the usage of API keys', async () => {
    const [from, to] = [newPath(), newPath()];
    const [source, target] = [open(from), open(to)];
    const read = await fillApiKeys(source);
    const exported = await exportText(from);
    await importText(to, exported);
    assert.equal(await exportText(to), exported);
    assert.deepEqual(await read(target), await read(source));
    const database = new DatabaseSync(to);
    database.exec("UPDATE api_key_usage SET api_key_id = 'key_lost'");
    database.close();
    const location = { kind: 'sqlite', path: to } as const;
    const verified = await verifyLedger(location, {
      ...{ nowMs: NOW, signal: NEVER, onProgress: () => {} },
    });
    const problems = verified.findings.map(({ problem }) => problem);
    assert.deepEqual(problems, ['api_key_usage: api_key_id names no API key']);
    const change = (column: string, from: string, to: string) =>
      importChanged(exported, 'api_keys', (row) => row[column] === from, { [column]: to });
    for (const scopes of ['read,generate', '']) {
      await assert.rejects(change('scopes', 'generate,read', scopes), /scopes must be a list of/);
    }
    await assert.rejects(
      change('address_ranges', '192.0.2.0/24', '192.0.2.0/33'),
      /address_ranges must be/,
    );
    for (const store of [source, target]) await store.close();
  });

  it('copies states of accounts', async () => {
    const [from, to] = [newPath(), newPath()];
    const [source, target] = [open(from), open(to)];
    await fillStates(source);
    const exported = await exportText(from);
    await importText(to, exported);
    assert.equal(await exportText(to), exported);
    await assertSameStates(source, target);
    const change = (fits: (row: NamedRow) => boolean, by: NamedRow) =>
      importChanged(exported, 'accounts', fits, by);
    await assert.rejects(
      change(({ name }) => name === '(deleted)', { name: 'Ada' }),
      /a deleted account has a name/,
    );
    const isSuspended = (row: NamedRow) => row.suspended_ms !== null;
    await assert.rejects(change(isSuspended, { state_audit_id: null }), /state_audit_id is/);
    await assert.rejects(change(isSuspended, { deleted_ms: NOW }), /are both set/);
    for (const store of [source, target]) await store.close();
  });

  it('needs the plan of every account but of a deleted one', async () => {
    const from = newPath();
    const source = open(from);
    await fillStates(source);
    await source.close();
    const lines = (await exportText(from)).trimEnd().split('\n');
    for (const [account, isNeeded] of [
      ['acct_suspended', true],
      ['acct_resumed', true],
      ['acct_deleted', false],
    ] as const) {
      const changed = lines.map((line) =>
        line.startsWith(`["${account}"`) ? line.replace('"research"', '"gone"') : line,
      );
      assert.notDeepEqual(changed, lines);
      const imported = importText(newPath(), sealed(changed));
      if (isNeeded) await assert.rejects(imported, /plan must be one of research/);
      else await imported;
    }
  });

  it('copies sealed keys, recipients and idempotency records, so that a retry is replayed', async () => {
    const [from, to] = [newPath(), newPath()];
    const [sealer, target] = [open(from), open(to)];
    const filled = await fillSealed(sealer);
    const exported = await exportText(from);
    await importText(to, exported);
    assert.equal(await exportText(to), exported);
    await assertSealed(sealer, filled);
    await assertSealed(target, filled);
    await assert.rejects(
      importChanged(exported, 'ledger', (row) => row.sealed_digest !== null, {
        sealed_digest: null,
      }),
      /only one of sealed_to and/,
    );
    const change = (by: NamedRow) =>
      importChanged(exported, 'idempotency', (row) => row.idempotency_key === 'p', by);
    await assert.rejects(change({ idempotency_key: 'p p' }), /idempotency_key must be/);
    await assert.rejects(change({ key_ids: 'ab' }), /key_ids must be/);
    await sealer.close();
    await target.close();
  });

  it('copies keys for several recipients', async () => {
    const [from, to] = [newPath(), newPath()];
    const [sealer, target] = [open(from), open(to)];
    await fillSealed(sealer);
    const keys = [makeRow({ sealed: seal(2) }), makeRow({ sealed: seal(8) })];
    await sealer.commit([batchOf('acct_s', 2, { keys })], []);
    const exported = await exportText(from);
    await importText(to, exported);
    assert.equal(await exportText(to), exported);
    for (const { keyId, sealed } of keys) {
      assert.deepEqual(
        structuredClone((await target.findRecord(keyId))?.sealed),
        structuredClone((await sealer.findRecord(keyId))?.sealed),
      );
      assert.ok(sealed?.further);
    }
    await assert.rejects(
      importChanged(exported, 'ledger', (row) => row.further_seals !== null, {
        further_seals: '0'.repeat(126),
      }),
      /further_seals must be 1 to 7 times 128 hexadecimal digits/,
    );
    await sealer.close();
    await target.close();
  });

  it('exports one state during writes and blocks no writer', async () => {
    const path = newPath();
    const busy = open(path);
    await fillStore(busy, 2_500);
    const commit = async () => {
      const [outcome] = await busy.commit([keyRequest('acct_a')], []);
      assert.equal(outcome?.kind, 'committed');
    };
    const before = await exportText(path);
    assert.equal(await exportText(path, commit), before);
    assert.notEqual(await exportText(path), before);
    await busy.close();
  });

  it('refuses a truncated or changed file and keeps nothing of it', async () => {
    const path = newPath();
    await open(path).close();
    const bytes = Buffer.from(text);
    const ends = lines.map((_, i) => lines.slice(0, i).join('\n').length + 1);
    const cuts = [
      1,
      100,
      ...ends.filter((_, i) => i % 60 === 1),
      bytes.length - 100,
      bytes.length - 1,
    ];
    for (const cut of cuts) {
      await assert.rejects(importText(path, bytes.subarray(0, cut)), {
        name: 'SetupError',
        message: /cut off/,
      });
    }
    await assert.rejects(importText(path, ''), /cut off/);
    const changed = text.replace('"Ada ', '"Eda ');
    assert.notEqual(changed, text);
    await assert.rejects(importText(path, changed), /^SetupError: line \d+: the SHA-256 /);
    await assert.rejects(importText(path, `${text}[]\n`), /nothing may follow the last line/);
    assert.ok(isEmpty(path));
    await importText(path, text);
  });

  it('names the invalid line and its problem, and keeps nothing of the file', async () => {
    const path = newPath();
    await open(path).close();
    const first = {
      account: lineOf('["acct_a"'),
      key: lineOf('["key_acct_a"'),
      sums: lineOf('{"table":"rollup_minute"') + 1,
      row: lineOf('{"table":"validated_keys"') - 1,
      validated: lineOf('{"table":"logs"') - 1,
    };
    const value = (line: number, column: number, to: unknown) => {
      const row = JSON.parse(lines[line - 1] ?? '');
      row[column] = to;
      return lines.with(line - 1, JSON.stringify(row));
    };
    const definition2 = lines.findIndex((line) => /^\["acct_b",.*,2\]$/.test(line)) + 1;
    const wrong: [number, readonly string[], RegExp][] = [
      [1, lines.with(0, '{"format":"other"}'), /not the first line of an export/],
      [1, lines.with(0, (lines[0] ?? '').replace('"version":6', '"version":7')), /versions 1 to 6/],
      [1, lines.with(0, (lines[0] ?? '').replace(/,"logs":\d+/, '')), /"rows" must hold/],
      [1, lines.with(0, (lines[0] ?? '').replace('"usage"', '"use"')), /"rows" must hold/],
      [2, lines.with(1, '["acct_a"]'), /name of the table must precede/],
      [2, lines.toSpliced(1, 1), /name of the table must precede/],
      [3, lines.with(2, '{"a":'), /not JSON/],
      [3, lines.with(2, ''), /not JSON/],
      [3, lines.with(2, 'null'), /the table "api_keys" is expected here/],
      [
        2,
        lines.with(1, '{"table":"accounts","columns":["account_id"]}'),
        /column "name" is missing/,
      ],
      [2, lines.with(1, (lines[1] ?? '').replace(']', ',"more"]')), /knows the columns/],
      [3, lines.with(2, '["acct_a"]'), /a row of 9 values/],
      [first.account, value(first.account, 0, 'a b'), /account_id must be 1 to 100 ASCII/],
      [first.account, value(first.account, 1, 'x'.repeat(201)), /name must be 1 to 200 printable/],
      [first.account, value(first.account, 1, 'a\u0000b'), /name must be/],
      [first.account, value(first.account, 1, '\ud800'), /name must be/],
      [first.account, value(first.account, 2, 'gold'), /plan must be one of research/],
      [first.account, value(first.account, 3, 1), /demo must be true or false/],
      [first.account, value(first.account, 4, -1), /created_ms must be a whole number/],
      [first.account, value(first.account, 4, '5'), /created_ms must be/],
      [first.account, value(first.account, 4, null), /created_ms must be/],
      [
        first.account + 1,
        lines.toSpliced(first.account, 0, lines[first.account - 1] ?? ''),
        /order of their key/,
      ],
      [first.key, value(first.key, 1, 'acct_c'), /account_id must be one of the accounts/],
      [first.key, value(first.key, 2, 'AB'.repeat(32)), /key_hash must be 64 hexadecimal/],
      [first.row, value(first.row, 0, 'ab'.repeat(16)), /key_id must be .* UUIDv7/],
      [first.row, value(first.row, 1, 'ab'.repeat(31)), /commitment must be 64 hexadecimal/],
      [first.row, value(first.row, 2, 2 ** 31), /secret_version must be/],
      [first.row, value(first.row, 5, 192), /security_level must be 128, 256 or 384/],
      [first.row, value(first.row, 10, -0.5), /entropy_bits must be/],
      [first.row, value(first.row, 12, 1.5), /gate_p must be a number from 0 to 1, or null/],
      [first.sums + 1, value(first.sums + 1, 3, 2 ** 53 - 1), /latency_us of an account add up to/],
      [first.sums, value(first.sums, 8, '1,,2'), /latency_counts must be 1 to 88 whole numbers/],
      [first.sums, value(first.sums, 8, '0'.repeat(9)), /latency_counts must be/],
      [first.sums, value(first.sums, 8, '1,'.repeat(88).concat('1')), /latency_counts must be/],
      [first.validated, value(first.validated, 0, 'acct_c'), /account_id must be one of/],
      [first.validated, value(first.validated, 2, 'ab'.repeat(751)), /p_values must be 1504/],
      [
        definition2,
        value(definition2, 2, 'ab'.repeat(752)),
        /p_values must have 1536 .*definition 2 /,
      ],
      [definition2, value(definition2, 3, 1), /p_values must have 1504 .*definition 1 /],
      [definition2, value(definition2, 3, 4), /evidence_definition must be 1, 2 or 3/],
      [
        first.validated,
        lines
          .with(first.validated - 1, lines[first.validated - 2] ?? '')
          .with(first.validated - 2, lines[first.validated - 1] ?? ''),
        /order of their key/,
      ],
      [lines.length - 1, lines.toSpliced(first.row - 1, 1), /rows are missing/],
      [lineOf('{"table":"usage"'), lines.toSpliced(lineOf('{"table":"usage"') - 1, 2), /./],
      [3, lines.with(2, `["${'x'.repeat(2 ** 24)}"]`), /longer than 16777216 bytes/],
      [first.row, value(first.row, 16, 'ab'.repeat(32)), /only some of key_commitment, salt, /],
    ];
    for (const [line, changed, words] of wrong) {
      await assert.rejects(importText(path, sealed(changed)), (error: Error) => {
        assert.equal(error.name, 'SetupError', String(error.stack));
        assert.match(error.message, words);
        assert.match(error.message, /^line \d+/);
        const named = Number(/line (\d+)/.exec(error.message)?.[1]);
        assert.equal(named, line, error.message);
        return true;
      });
    }
    const latin1 = Buffer.from(text.replace('"Ada', '"\u00e9'), 'latin1');
    await assert.rejects(importText(path, latin1), /line 3: this is not UTF-8/);
    assert.ok(isEmpty(path));
  });

  it('refuses counts in the header that do not match the rows', async () => {
    const path = newPath();
    await open(path).close();
    const header = JSON.parse(lines[0] ?? '');
    header.rows.ledger += 1;
    const changed = sealed(lines.with(0, JSON.stringify(header)));
    await assert.rejects(importText(path, changed), /rows are missing/);
    assert.ok(isEmpty(path));
  });

  it('compares the sums of the store with the file before it commits', async () => {
    const path = newPath();
    const target = open(path);
    const database = new DatabaseSync(path);
    database.exec(`CREATE TRIGGER thief AFTER INSERT ON usage BEGIN
      UPDATE usage SET used = used - 1 WHERE account_id = new.account_id; END`);
    await assert.rejects(importText(path, text), /the table usage differs from the file/);
    assert.ok(isEmpty(path));
    database.exec('DROP TRIGGER thief; CREATE UNIQUE INDEX one_hint ON api_keys (hint)');
    await assert.rejects(importText(path, text), /lines 6 to 9: .*UNIQUE/);
    assert.ok(isEmpty(path));
    database.close();
    await target.close();
  });

  it('reads a file that lacks a nullable column', async () => {
    const at = lineOf('{"table":"api_keys"');
    const older = lines.map((line, i) => {
      if (i === at - 1) return line.replace(',"revoked_ms"', '');
      return i >= at && i < at + 4 ? JSON.stringify(JSON.parse(line).toSpliced(5, 1)) : line;
    });
    const path = newPath();
    const target = open(path);
    await importText(path, sealed(older));
    const keys = await target.listApiKeys();
    assert.deepEqual(
      keys.map(({ revokedMs }) => revokedMs),
      [null, null, null, null],
    );
    await target.close();
  });

  /** Returns the file as an earlier version of the format, without these tables and columns. */
  function olderFile(tables: readonly string[], columns: readonly string[], version = 1): string {
    const header = JSON.parse(lines[0] ?? '');
    const trailer = JSON.parse(lines.at(-1) ?? '');
    const older: string[] = [];
    let kept: number[] | null = null;
    for (const line of lines.slice(1, -1)) {
      const json = JSON.parse(line);
      if (!Array.isArray(json)) {
        const places = json.columns.flatMap((name: string, i: number) =>
          columns.includes(name) ? [] : [i],
        );
        kept = tables.includes(json.table) ? null : places;
        json.columns = json.columns.filter((name: string) => !columns.includes(name));
        if (kept) older.push(JSON.stringify(json));
      } else if (kept) {
        older.push(JSON.stringify(kept.map((place) => json[place])));
      }
    }
    for (const table of tables) {
      delete header.rows[table];
      delete trailer.rows[table];
    }
    return sealed([
      JSON.stringify({ ...header, version }),
      ...older,
      JSON.stringify({ ...trailer, sha256: '' }),
    ]);
  }

  const SEALING_TABLES = ['recipients', 'idempotency'];
  const SEALING = ['sealed_only', 'sealed_to', 'sealed_digest', 'further_seals'];
  const LOG_TABLES = TABLE_NAMES.filter((name) => /^log|^audit$|^software$/.test(name));
  const RECEIPT = ['key_commitment', 'salt', 'strength_bits', 'sources', 'software_id'];

  it('reads a file of version 2, without sealed keys and idempotency records', async () => {
    const path = newPath();
    const target = open(path);
    await importText(path, olderFile(SEALING_TABLES, SEALING, 2));
    await assertSameStore(store, target, filled);
    await target.close();
    const missing = olderFile(['recipients', 'software'], SEALING, 2);
    await assert.rejects(importText(newPath(), missing), /"rows" must hold/);
  });

  it('reads a file of version 1, without the tables and columns of the log', async () => {
    const path = newPath();
    const target = open(path);
    await importText(path, olderFile([...LOG_TABLES, ...SEALING_TABLES], [...RECEIPT, ...SEALING]));
    await assertSameStore(store, target, filled);
    assert.deepEqual(await target.logs(), []);
    await target.close();
  });

  it('reads a file of an early release, without latencies and p-values', async () => {
    const path = newPath();
    const target = open(path);
    const columns = ['latency_counts', 'evidence_definition', ...RECEIPT, ...SEALING];
    const tables = ['validated_keys', ...LOG_TABLES, ...SEALING_TABLES];
    await importText(path, olderFile(tables, columns));
    const metrics = (one: LedgerStore) => one.activity('acct_a', NOW - 90 * 86_400_000);
    assert.deepEqual(await metrics(target), await metrics(store));
    assert.deepEqual(await target.keyEvidence('acct_b', 10), []);
    const query = { accountId: 'acct_a', startMs: NOW - (NOW % 86_400_000) };
    const [day] = await target.series({ ...query, stepMinutes: 1_440, steps: 1 });
    assert.ok(day && day.keys > 0 && day.latencies === null);
    // A file whose header counts the table must contain it.
    const [start, end] = [lineOf('{"table":"validated_keys"') - 1, lineOf('{"table":"logs"') - 1];
    const untrue = [...lines.slice(0, start), ...lines.slice(end)];
    await assert.rejects(
      importText(newPath(), sealed(untrue)),
      /"validated_keys" is expected here/,
    );
    await target.close();
  });

  it('fills only an empty store and reports what another store holds', async () => {
    await assert.rejects(importText(source, text), {
      name: 'SetupError',
      message: /needs an empty ledger.*accounts \(2 rows\)/,
    });
    assert.equal(await exportText(source), text);
  });

  it('keeps nothing when it is interrupted', async () => {
    const path = newPath();
    await open(path).close();
    const controller = new AbortController();
    async function* interrupted() {
      let chunks = 0;
      for await (const chunk of chunksOf(text)) {
        if (++chunks === 20) controller.abort('interrupted');
        yield chunk;
      }
    }
    await assert.rejects(
      importLedger(await movable(path), interrupted(), PLANS, controller.signal),
      (reason) => reason === 'interrupted',
    );
    assert.ok(isEmpty(path));
  });
});
