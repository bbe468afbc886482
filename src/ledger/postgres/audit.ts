/** Makes a statement that changes at most one row write an audit record as well. */
import type { AuditRecord } from '../log-store.ts';

/** The number of rows that a statement must write to a table, and the number that it wrote, as queries. */
type Written = readonly [table: string, wanted: string, written: string];

export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
  /** Parts of the `WITH` clause that `sql` refers to. */
  readonly parts?: readonly string[];
  /** The table that `sql` writes, and a query for the number of rows that it must write. */
  readonly must?: readonly [table: string, query: string];
  /** A further change of the same transaction, without values, that ends with a condition. Made only if `sql` returns a row. */
  readonly also?: string | undefined;
}

/** Returns a statement that writes an audit record and its pending entry, and returns one row. */
export function auditStatement(audit: AuditRecord): Statement {
  return withAudit({ sql: 'SELECT true AS is_new', values: [] }, audit);
}

/**
 * Returns a statement that does `change`, which returns the column `is_new` for each row that it writes, and
 * that writes the audit record only if `is_new` is true. An unchanged row is written all the same, so that
 * its commit is confirmed: a caller may repeat a change whose commit was not. The statement returns the rows of
 * `change`.
 */
export function withAudit(change: Statement, audit: AuditRecord | null): Statement {
  const parts = partsOf(change);
  const values = [...change.values];
  const written = writtenBy(change);
  /** Adds a part that inserts `columns`, with values of these types, for a changed row. */
  const insert = (table: string, columns: Columns) => {
    const selected = Object.values(columns).map(([type, value]) => {
      values.push(value);
      return `$${values.length}::${type}`;
    });
    parts.push(
      `${table}_written AS (INSERT INTO ${table} (${Object.keys(columns).join(', ')})
       SELECT ${selected.join(', ')} FROM changed WHERE is_new RETURNING 1)`,
    );
    written.push([table, 'SELECT count(*) FROM changed WHERE is_new', countOf(`${table}_written`)]);
  };
  if (audit) insert('audit', auditColumns(audit));
  if (audit?.pending) insert('log_pending', pendingColumns(audit));
  return { sql: counted(parts, 'SELECT * FROM changed', written), values };
}

/**
 * Like `withAudit`, of a change that returns the column `audit_id` for each row that it writes: the audit records that the
 * rows name are written, and no others.
 */
export function withAudits(change: Statement, audits: readonly AuditRecord[]): Statement {
  const parts = partsOf(change);
  const values = [...change.values];
  const written = writtenBy(change);
  /** Adds a part that inserts rows of these columns whose `id` a changed row names. */
  const insert = (table: string, id: string, rows: readonly Columns[]) => {
    const [first] = rows;
    if (first === undefined) return;
    const names = Object.keys(first).join(', ');
    const lists = Object.entries(first).map(([name, [type]]) => {
      values.push(rows.map((row) => row[name]?.[1]));
      return `$${values.length}::${type}[]`;
    });
    parts.push(
      `${table}_written AS (INSERT INTO ${table} (${names})
       SELECT * FROM unnest(${lists.join(', ')}) AS asked (${names})
       WHERE ${id} IN (SELECT audit_id FROM changed) RETURNING 1)`,
    );
    const ids = `$${values.length - lists.length + Object.keys(first).indexOf(id) + 1}::bytea[]`;
    const wanted = `SELECT count(*) FROM changed WHERE audit_id = ANY (${ids})`;
    written.push([table, wanted, countOf(`${table}_written`)]);
  };
  insert('audit', 'audit_id', audits.map(auditColumns));
  insert('log_pending', 'entry_id', audits.filter(({ pending }) => pending).map(pendingColumns));
  return { sql: counted(parts, 'SELECT * FROM changed', written), values };
}

/**
 * Returns a statement with these parts that runs `query`, and fails if fewer rows were written than had to be: the database
 * may drop rows without an error. Unlike a condition, a limit is evaluated even if the query returns no row.
 */
export function counted(
  parts: readonly string[],
  query: string,
  written: readonly Written[],
): string {
  const checks = written.map(
    ([table, wanted, done]) => `require_written('${table}', (${wanted}), (${done}))`,
  );
  const limit =
    checks.length === 0 ? '' : ` LIMIT CASE WHEN ${checks.join(' AND ')} THEN NULL::bigint END`;
  return `WITH ${parts.join(', ')} ${query}${limit}`;
}

export function countOf(part: string): string {
  return `SELECT count(*) FROM ${part}`;
}

function writtenBy({ must }: Statement): Written[] {
  return must ? [[...must, countOf('changed')]] : [];
}

/** Returns the parts of the `WITH` clause that make a change, and call its rows `changed`. */
function partsOf({ parts = [], sql, also }: Statement): string[] {
  const changed = [...parts, `changed AS (${sql})`];
  return also === undefined
    ? changed
    : [...changed, `also_changed AS (${also} AND EXISTS (SELECT FROM changed))`];
}

type Columns = Readonly<Record<string, readonly [string, unknown]>>;

function auditColumns({ auditId, atMs, action, details, salt }: AuditRecord): Columns {
  return {
    audit_id: ['bytea', auditId],
    at_ms: ['bigint', atMs],
    action: ['text', action],
    details: ['text', details],
    salt: ['bytea', salt],
  };
}

/** The entry ID is the audit ID. */
function pendingColumns({ auditId, pending }: AuditRecord): Columns {
  return {
    entry_id: ['bytea', auditId],
    log_id: ['integer', pending?.logId],
    kind: ['text', 'audit'],
    entry: ['bytea', pending?.entry],
    mac: ['bytea', pending?.mac],
    secret_version: ['integer', pending?.secretVersion],
  };
}
