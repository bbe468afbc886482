/** Compares rows, counters and sums. Each check is one query in SQL that both databases understand. */
import { HOUR_MS } from '../../clock.ts';
import { type Findings, unsound } from './findings.ts';

/** Runs one statement that reads. */
export type Ask = (sql: string) => Promise<readonly Record<string, unknown>[]>;

/** Times taken from the rows. */
interface Times {
  /** The time of the oldest row, by the younger of its two times; null without rows. */
  readonly oldestRowMs: number | null;
  /** Now, or the newest sum if that is later. */
  readonly newestMs: number;
}

interface SumCheck {
  readonly problem: string;
  /** Selects `example`, one row for each place with the problem, at most `MAX_PLACES`. */
  readonly sql: string;
}

const MAX_PLACES = 1_000;

/** Minutes are kept for 8,761 hours. A server with a clock a week ahead may have removed more. */
const MINUTES_SURE_HOURS = 8_761 - 8 * 24;

const SUMS = ['keys', 'latency_us', 'streams', 'streams_passed', 'metered', 'failures'];

/** Compares counters, sums and rows with each other. */
export async function checkSums(ask: Ask, times: Times, findings: Findings): Promise<void> {
  for (const { problem, sql } of sumChecks(times)) {
    const places = await ask(`${sql} LIMIT ${MAX_PLACES}`);
    for (const { example } of places) findings.add(unsound(problem), String(example));
  }
}

function sumChecks({ oldestRowMs, newestMs }: Times): SumCheck[] {
  // Retention removes a row when both of its times are too old. A key ID is some milliseconds younger than
  // its request, so the hour of the oldest row and the next hour may have lost rows.
  const firstWholeHour = oldestRowMs === null ? 2 ** 40 : Math.floor(oldestRowMs / HOUR_MS) + 2;
  const firstSureHour = Math.floor(newestMs / HOUR_MS) - MINUTES_SURE_HOURS;
  return [
    {
      problem: "usage: an account's counters do not equal the metered requests in its sums by hour",
      sql: `SELECT account_id AS example FROM (
          SELECT account_id, used AS difference FROM usage
          UNION ALL SELECT account_id, -metered FROM rollup_hour) AS parts
        GROUP BY account_id HAVING sum(difference) <> 0`,
    },
    {
      problem: 'rollup_hour: an hour does not equal the sum of its minutes',
      sql: `SELECT account_id || ' hour ' || period AS example FROM (
          SELECT account_id, period, ${SUMS.join(', ')} FROM rollup_hour
          UNION ALL SELECT account_id, period / 60, ${SUMS.map((name) => `-${name}`).join(', ')}
            FROM rollup_minute) AS parts
        GROUP BY account_id, period HAVING ${SUMS.map(
          (name) => `sum(${name}) < 0 OR (period >= ${firstSureHour} AND sum(${name}) <> 0)`,
        ).join(' OR ')}`,
    },
    {
      problem: 'ledger: the rows of an hour do not match its sum',
      sql: `SELECT account_id || ' hour ' || period AS example FROM (
          SELECT account_id, period, keys, latency_us FROM rollup_hour
          UNION ALL SELECT account_id, created_ms / ${HOUR_MS}, -1, -latency_us FROM ledger) AS parts
        GROUP BY account_id, period HAVING ${['keys', 'latency_us']
          .map((name) => `sum(${name}) < 0 OR (period >= ${firstWholeHour} AND sum(${name}) <> 0)`)
          .join(' OR ')}`,
    },
    {
      problem: 'ledger: two rows have the same commitment and version',
      sql: `SELECT count(*) || ' rows of fingerprint ' || fingerprint AS example FROM ledger
        WHERE fingerprint IN (
          SELECT fingerprint FROM ledger GROUP BY fingerprint HAVING count(*) > 1)
        GROUP BY fingerprint, commitment, secret_version HAVING count(*) > 1`,
    },
    {
      problem: 'validated_keys: the ledger has no validated key with this account and definition',
      // Retention removes the rows of the ledger first. PostgreSQL has min() of bytea only from version 18
      // on.
      sql: `SELECT 'account ' || p.account_id AS example FROM validated_keys AS p
        LEFT JOIN ledger AS k ON k.key_id = p.key_id
        WHERE p.key_id >= (SELECT key_id FROM ledger ORDER BY key_id LIMIT 1) AND (k.key_id IS NULL
          OR k.account_id <> p.account_id OR k.gate_p IS NULL
          OR coalesce(k.evidence_definition, 1) <> p.evidence_definition)`,
    },
    {
      problem: 'ledger: a validated key has no p-values',
      sql: `SELECT 'account ' || k.account_id AS example FROM ledger AS k
        WHERE k.evidence_definition IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM validated_keys AS p
          WHERE p.account_id = k.account_id AND p.key_id = k.key_id)`,
    },
    ...STATE_CHECKS,
    ACCOUNT_CHECK,
    ...LOG_CHECKS,
  ];
}

/** States of keys, their rows and their audit records. `phm log check` also finds revocations without a state. */
const STATE_CHECKS: readonly SumCheck[] = [
  {
    problem: 'ledger: a key that expires has no state',
    sql: `SELECT 'account ' || k.account_id AS example FROM ledger AS k
      WHERE k.expires_ms IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM key_states AS s WHERE s.key_id = k.key_id)`,
  },
  {
    problem: 'key_states: a state differs from the row of its key',
    sql: `SELECT 'account ' || s.account_id AS example FROM key_states AS s
      JOIN ledger AS k ON k.key_id = s.key_id
      WHERE k.account_id <> s.account_id OR k.commitment <> s.commitment
        OR k.secret_version <> s.secret_version OR coalesce(k.expires_ms, -1) <> coalesce(s.expires_ms, -1)`,
  },
  {
    problem: 'key_states: a revocation has no audit record',
    sql: `SELECT 'account ' || s.account_id AS example FROM key_states AS s
      LEFT JOIN audit AS a ON a.audit_id = s.audit_id
      WHERE s.state IS NOT NULL
        AND (a.audit_id IS NULL OR a.action <> 'key_revoked' OR a.at_ms <> s.revoked_ms)`,
  },
];

/** States of accounts and their audit records. `phm log check` also finds changes that are no state any more. */
const ACCOUNT_CHECK: SumCheck = {
  problem: 'accounts: the state of an account differs from its audit record, or has none',
  sql: `SELECT 'account ' || o.account_id AS example FROM accounts AS o
    LEFT JOIN audit AS a ON a.audit_id = o.state_audit_id
    WHERE (o.state_audit_id IS NOT NULL AND a.audit_id IS NULL)
      OR coalesce(o.suspended_ms, -1) <> CASE a.action WHEN 'account_suspended' THEN a.at_ms ELSE -1 END
      OR coalesce(o.deleted_ms, -1) <> CASE a.action WHEN 'account_deleted' THEN a.at_ms ELSE -1 END`,
};

/** The structure of the logs. `phm log check` recomputes their trees. */
const LOG_CHECKS: readonly SumCheck[] = [
  {
    problem: 'log_entries: the entries of a log are not numbered from 0 to its size',
    sql: `SELECT 'log ' || logs.origin AS example FROM logs LEFT JOIN (
        SELECT log_id, count(*) AS entries, max(entry_index) AS newest FROM log_entries
        GROUP BY log_id) AS found ON found.log_id = logs.log_id
      WHERE logs.size <> coalesce(entries, 0) OR logs.size <> coalesce(newest, -1) + 1`,
  },
  {
    problem: 'log_tiles: a log has more or fewer full tiles of level 0 than its size needs',
    sql: `SELECT 'log ' || logs.origin AS example FROM logs LEFT JOIN (
        SELECT log_id, count(*) AS tiles, max(tile_index) AS newest, min(length(hashes)) AS shortest
        FROM log_tiles WHERE level = 0 GROUP BY log_id) AS found ON found.log_id = logs.log_id
      WHERE logs.size / 256 <> coalesce(tiles, 0) OR logs.size / 256 <> coalesce(newest, -1) + 1
        OR shortest < 8192`,
  },
  {
    problem: 'log_checkpoints: a checkpoint covers more entries than its log has',
    sql: `SELECT 'log ' || logs.origin AS example FROM log_checkpoints
      JOIN logs ON logs.log_id = log_checkpoints.log_id WHERE log_checkpoints.size > logs.size`,
  },
  {
    // As `faultsOf` compares them.
    problem:
      'logs: a log is closed without one that follows it, open before another, or closed at another time',
    sql: `SELECT 'log ' || logs.origin AS example FROM logs LEFT JOIN logs AS after
        ON after.log_id = (SELECT min(log_id) FROM logs AS later WHERE later.log_id > logs.log_id)
      WHERE coalesce(logs.closed_ms, -1) <> coalesce(after.started_ms, -1)`,
  },
];
