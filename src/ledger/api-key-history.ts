/**
 * What audit records say about API keys. Rules never change, and every other change of an API key has a record. So the
 * records give all columns except the hash, the counter and the last use.
 */
import type { ApiKeyRecord } from './api-keys.ts';
import { type AuditRecord, detailsOf } from './log-store.ts';

/** The records of these actions name API keys, or end all of an account. */
export const API_KEY_ACTIONS = [
  'api_key_issued',
  'api_key_rotated',
  'api_key_revoked',
  'account_deleted',
] as const;

interface Event {
  readonly atMs: number;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The records that name one API key. */
interface History {
  /** Its issue, or the rotation that made it. */
  readonly made: Event[];
  /** The rotation that ended it. */
  readonly replaced: Event[];
  readonly revoked: Event[];
}

/** What the first API key of a chain of rotations passes on. */
interface Origin {
  readonly accountId: unknown;
  /** In the order of `SETTINGS`. */
  readonly settings: readonly unknown[];
  /** Before a rotation cuts it; undefined if no record says it. */
  readonly expiresMs: number | null | undefined;
}

/** The settings that a rotation copies: the names in audit records, and those in rows. */
const SETTINGS = [
  ['name', 'name'],
  ['address_ranges', 'addressRanges'],
  ['scopes', 'scopes'],
  ['rate_per_second', 'ratePerSecond'],
  ['burst', 'burst'],
  ['monthly_limit', 'monthlyLimit'],
  ['recipients', 'recipients'],
] as const;

/** The settings that the deletion of the account erases. */
const ERASED = ['name', 'address_ranges'];

const NONE: History = { made: [], replaced: [], revoked: [] };

type Rows = ReadonlyMap<string, ApiKeyRecord>;

/** Collects the records, and compares API keys with them. */
export class ApiKeyHistories {
  readonly #histories = new Map<string, History>();
  /** Times of deletions, by account. */
  readonly #deletions = new Map<string, number[]>();

  note({ action, atMs, details: text }: Pick<AuditRecord, 'action' | 'atMs' | 'details'>): void {
    if (!API_KEY_ACTIONS.some((one) => one === action)) return;
    const event = { atMs, details: detailsOf(text) };
    const { account_id, api_key_id, replaced_by } = event.details;
    if (action === 'account_deleted') {
      const accountId = String(account_id);
      this.#deletions.set(accountId, [...(this.#deletions.get(accountId) ?? []), atMs]);
      return;
    }
    const history = this.#open(String(api_key_id));
    if (action === 'api_key_issued') history.made.push(event);
    if (action === 'api_key_revoked') history.revoked.push(event);
    if (action !== 'api_key_rotated') return;
    history.replaced.push(event);
    this.#open(String(replaced_by)).made.push(event);
  }

  /** Reports whether a record says how the API key was made. */
  knows(apiKeyId: string): boolean {
    return (this.#histories.get(apiKeyId)?.made.length ?? 0) > 0;
  }

  /** Returns the IDs of those of all API keys that differ from their records, and of those that only records name. */
  wrong(apiKeys: readonly ApiKeyRecord[]): string[] {
    const rows: Rows = new Map(apiKeys.map((row) => [row.apiKeyId, row]));
    const changed = apiKeys.filter((row) => !this.#explains(row, rows));
    const removed = [...this.#histories.keys()].filter((apiKeyId) => !rows.has(apiKeyId));
    return [...changed.map(({ apiKeyId }) => apiKeyId), ...removed];
  }

  #explains(row: ApiKeyRecord, rows: Rows): boolean {
    const history = this.#histories.get(row.apiKeyId) ?? NONE;
    const origin = this.#origin(row, rows);
    if (!origin || history.made.length > 1 || history.replaced.length > 1) return false;
    const [made] = history.made;
    const deletions = this.#deletions.get(row.accountId) ?? [];
    const settings = SETTINGS.map(([name], i) =>
      deletions.length > 0 && ERASED.includes(name) ? null : origin.settings[i],
    );
    return (
      row.accountId === origin.accountId &&
      (!made || (row.createdMs === made.atMs && row.hint === made.details.hint)) &&
      JSON.stringify(settings) === JSON.stringify(settingsOf(row)) &&
      endsAs(row, history, origin, deletions)
    );
  }

  /** Follows the rotations back to the first API key of the chain. Returns null if they form a circle. */
  #origin(row: ApiKeyRecord, rows: Rows): Origin | null {
    const seen = new Set<string>();
    let expiresMs: Origin['expiresMs'];
    for (let apiKeyId = row.apiKeyId; !seen.has(apiKeyId); ) {
      seen.add(apiKeyId);
      const details = this.#histories.get(apiKeyId)?.made[0]?.details;
      if (!details) {
        const first = rows.get(apiKeyId) ?? row;
        return { accountId: first.accountId, settings: settingsOf(first), expiresMs };
      }
      const isIssue = details.replaced_by === undefined;
      if (expiresMs === undefined && (isIssue || details.expires_at !== undefined)) {
        expiresMs = timeOf(details.expires_at);
      }
      const settings = SETTINGS.map(([name]) => details[name] ?? null);
      if (isIssue) return { accountId: details.account_id, settings, expiresMs };
      apiKeyId = String(details.api_key_id);
    }
    return null;
  }

  #open(apiKeyId: string): History {
    const history = this.#histories.get(apiKeyId) ?? { made: [], replaced: [], revoked: [] };
    this.#histories.set(apiKeyId, history);
    return history;
  }
}

/** Reports whether expiry, revocation and successor are those that the records lead to. */
function endsAs(
  row: ApiKeyRecord,
  { made, replaced: [replaced], revoked }: History,
  { expiresMs }: Origin,
  deletions: readonly number[],
): boolean {
  const untilMs = replaced ? (timeOf(replaced.details.until) ?? Number.NaN) : null;
  const hasOverlap = replaced !== undefined && untilMs !== null && untilMs > replaced.atMs;
  const expires = hasOverlap ? untilMs : expiresMs;
  const revocations = revoked.map(({ atMs }) => atMs);
  if (untilMs !== null && !hasOverlap) revocations.push(untilMs);
  const endings = revocations.length > 0 ? revocations : deletions;
  // An API key without a record of its issue may have been revoked or replaced before there were records.
  const isOpen = endings.length === 0 && (row.revokedMs === null || made.length === 0);
  const isReplaced = row.replacedBy === (replaced?.details.replaced_by ?? null);
  return (
    (expires === undefined || row.expiresMs === expires) &&
    (isOpen || endings.some((ms) => ms === row.revokedMs)) &&
    (isReplaced || (!replaced && made.length === 0))
  );
}

function settingsOf(row: ApiKeyRecord): readonly unknown[] {
  return SETTINGS.map(([, name]) => row[name]);
}

/** Returns a time of an audit record in milliseconds; null without one. */
function timeOf(text: unknown): number | null {
  return typeof text === 'string' ? Date.parse(text) : null;
}
