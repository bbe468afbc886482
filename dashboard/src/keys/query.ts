/** What the list of keys shows, as the address holds it: by the names and values of `GET /api/v2/keys`. */
import type { KeyListQuery } from '../api.ts';

/** Filters and position. A text is empty without its filter. */
export interface KeyQuery {
  readonly status: string;
  readonly security_level: string;
  readonly source: string;
  readonly evidence: string;
  /** Times as RFC 3339, so that a link means the same in every time zone. */
  readonly created_after: string;
  readonly created_before: string;
  readonly api_key_id: string;
  readonly expires_before: string;
  /** `true`, `false` or empty. */
  readonly revoked: string;
  /** Each `name:value`; a key must have all of them. */
  readonly label: readonly string[];
  /** `next_cursor` of the page before; empty on the first page. */
  readonly cursor: string;
}

const TEXTS = [
  'status',
  'security_level',
  'source',
  'evidence',
  'created_after',
  'created_before',
  'api_key_id',
  'expires_before',
  'revoked',
] as const satisfies readonly (keyof KeyQuery)[];

/** Reads the part of an address after the question mark. The service judges the values. */
export function readQuery(search: string): KeyQuery {
  const given = new URLSearchParams(search);
  const text = (name: keyof KeyQuery) => given.get(name) ?? '';
  return {
    status: text('status'),
    security_level: text('security_level'),
    source: text('source'),
    evidence: text('evidence'),
    created_after: text('created_after'),
    created_before: text('created_before'),
    api_key_id: text('api_key_id'),
    expires_before: text('expires_before'),
    revoked: text('revoked'),
    label: given.getAll('label'),
    cursor: text('cursor'),
  };
}

export const NO_FILTERS: KeyQuery = readQuery('');

/** Returns the hash that shows this list. */
export function hashOf(query: KeyQuery): string {
  const search = new URLSearchParams();
  for (const name of TEXTS) if (query[name] !== '') search.append(name, query[name]);
  for (const label of query.label) search.append('label', label);
  if (query.cursor !== '') search.append('cursor', query.cursor);
  // A colon needs no escape here, and labels are easier to read with it.
  const text = search.toString().replaceAll('%3A', ':');
  return text === '' ? '#/keys' : `#/keys?${text}`;
}

/** Returns the filters that a reader has set, by their names. */
export function activeFilters({ label, ...query }: KeyQuery): string[] {
  const active: string[] = TEXTS.filter((name) => query[name] !== '');
  return label.length > 0 ? [...active, 'label'] : active;
}

const DAY_MS = 86_400_000;

/** Days within which a key is called expiring. */
const EXPIRING_DAYS = 30;

/** Returns the filters for active keys that expire soon: within 30 days of the end of this day (UTC). */
export function expiringQuery(nowMs: number): Pick<KeyQuery, 'status' | 'expires_before'> {
  const endMs = (Math.floor(nowMs / DAY_MS) + 1 + EXPIRING_DAYS) * DAY_MS;
  return { status: 'active', expires_before: new Date(endMs).toISOString().replace('.000Z', 'Z') };
}

/** Returns which chip a list belongs to; undefined if it is none of them. */
export function kindOf(query: KeyQuery): 'active' | 'expiring' | 'revoked' | undefined {
  const { status, expires_before: before, revoked } = query;
  if (status === 'active' && revoked === '') return before === '' ? 'active' : 'expiring';
  return status === '' && before === '' && revoked === 'true' ? 'revoked' : undefined;
}

/** Returns the query for the service. The service refuses values that it does not know. */
export function toListQuery(query: KeyQuery): KeyListQuery {
  const given: Record<string, unknown> = { label: query.label };
  for (const name of TEXTS) if (query[name] !== '') given[name] = query[name];
  if (query.revoked !== '') given.revoked = query.revoked === 'true';
  if (query.cursor !== '') given.cursor = query.cursor;
  return given as KeyListQuery;
}

/**
 * Returns the time up to which a page with this `next_cursor` has searched, in milliseconds; undefined if the cursor does not
 * tell it. The cursor is the ID of the last record that was read, whose first 48 bits are its time (RFC 9562 §5.7).
 */
export function searchedBackTo(cursor: string): number | undefined {
  if (!/^[\w-]{22}$/.test(cursor)) return undefined;
  const bytes = atob(cursor.slice(0, 8).replaceAll('-', '+').replaceAll('_', '/'));
  return [...bytes].reduce((time, byte) => time * 256 + byte.charCodeAt(0), 0);
}

/** Formats a time for a `datetime-local` field, in the reader's time zone; empty without a valid time. */
export function toLocalInput(time: string): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return '';
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Returns the time in a `datetime-local` field as RFC 3339; empty without one. */
export function fromLocalInput(text: string): string {
  const at = Date.parse(text);
  return Number.isNaN(at) ? '' : new Date(at).toISOString().replace('.000Z', 'Z');
}

/** What a reader may mean by a text in the search field. */
export type Wanted = 'key-id' | 'label' | 'key' | 'api-key' | 'unknown';

/** Tells a key ID and a label from secrets, which must not get into the address. */
export function wantedBy(text: string): Wanted {
  if (/^phm_[1-9]\d{0,38}$/.test(text)) return 'key-id';
  if (/phmsk_/i.test(text)) return 'api-key';
  if (/(?:0x)?[\da-f]{32,}/i.test(text)) return 'key';
  return text.includes(':') ? 'label' : 'unknown';
}
