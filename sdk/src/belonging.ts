/**
 * What shows that an answer belongs to its request. A proxy or a connection that repeats or shifts answers would otherwise
 * give one key to two callers.
 */
import type { JsonObject } from './answer.ts';
import { deliveryIdsOf } from './options.ts';
import type {
  GeneratedKey,
  GeneratedSealedKey,
  GenerateRequest,
  KeyInfo,
  KeyListQuery,
  RevocationReason,
  SealTo,
} from './types.ts';

/** Names what in an answer does not belong to the request; undefined if all does. Quotes no value. */
export type Belongs = (answer: JsonObject, headers: Headers) => string | undefined;

/** Random bytes after a label: two of 2^32 attempts are likely to have the same. */
const NONCE_BYTES = 8;

/** Returns a new `X-Request-Id` for one attempt, which begins with the caller's label if there is one. */
export function attemptId(label: string | undefined): string {
  const random = crypto.getRandomValues(new Uint8Array(label === undefined ? 16 : NONCE_BYTES));
  const nonce = Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return label === undefined ? nonce : `${label}.${nonce}`;
}

/** Keys remembered: some MiB at most. An answer that a peer repeats comes much sooner. */
const MOST_RECENT = 16_384;

/** The IDs of a client's latest keys, to notice an answer that a proxy repeats under the name of another request. */
export class RecentKeys {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size <= MOST_RECENT) return;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      return;
    }
  }
}

type Made = Pick<
  GeneratedKey,
  'key_id' | 'labels' | 'expires_at' | 'source' | 'receipt' | 'receipt_url'
> & {
  readonly security_level: number;
  readonly key?: string;
  readonly sealed_key?: SealedKey;
  readonly sealed_keys?: readonly SealedKey[];
  readonly delivery?: { readonly id: string };
};

type SealedKey = GeneratedSealedKey['sealed_key'];

/** For a single key, after its shape was checked. */
export function keyBelongs(request: GenerateRequest, to: Recipients, recent: RecentKeys): Belongs {
  return (answer, headers) =>
    madeMismatch([answer as unknown as Made], { request, to, recent, answer, headers });
}

/** For a batch, after its shape was checked. */
export function batchBelongs(
  request: GenerateRequest,
  to: Recipients,
  recent: RecentKeys,
): Belongs {
  return (answer, headers) => {
    const made = answer.keys as readonly Made[];
    return madeMismatch(made, { request, to, recent, answer, headers }, '/keys/');
  };
}

interface Circumstances {
  readonly request: GenerateRequest;
  readonly to: Recipients;
  readonly recent: RecentKeys;
  readonly answer: JsonObject;
  readonly headers: Headers;
}

function madeMismatch(
  made: readonly Made[],
  { request, to, recent, answer, headers }: Circumstances,
  at?: string,
): string | undefined {
  // An older service ignores fields that it does not know, and says so.
  const isWarned = Array.isArray(answer.warnings) && answer.warnings.length > 0;
  // The service keeps the answers with sealed keys for repetitions. A key in plain text is never sent twice.
  const isReplay = to !== null && headers.get('idempotent-replayed') === 'true';
  const [ids, secrets] = [new Set<string>(), new Set<string>()];
  for (const [i, one] of made.entries()) {
    const path = at === undefined ? '' : `${at}${i}`;
    const wrong =
      sourceMismatch(request, one) ??
      endMismatch(request, one, isWarned) ??
      sealMismatch(one, to, deliveryIdsOf(request)?.[i]) ??
      receiptMismatch(one);
    if (wrong !== undefined) return path + wrong;
    const secret = one.key ?? sealedIn(one)[0]?.enc ?? '';
    if (ids.has(one.key_id) || secrets.has(secret))
      return `${path} repeats another key of the batch`;
    if (recent.has(one.key_id) && !isReplay) return `${path}/key_id is of an earlier call`;
    ids.add(one.key_id);
    secrets.add(secret);
  }
  for (const id of ids) recent.add(id);
  return undefined;
}

function sourceMismatch(
  { entropy_source: asked }: GenerateRequest,
  made: Made,
): string | undefined {
  return asked === undefined || made.source === asked
    ? undefined
    : '/source is not that of the request';
}

/** Checks labels and expiry: the service repeats those of the request. */
function endMismatch(request: GenerateRequest, made: Made, isWarned: boolean): string | undefined {
  if (!sameLabels(request.labels ?? {}, made.labels ?? (isWarned ? request.labels : null) ?? {})) {
    return '/labels are not those of the request';
  }
  const asked = request.expires_at ?? undefined;
  if (made.expires_at === undefined && (asked === undefined || isWarned)) return undefined;
  return sameTime(asked, made.expires_at) ? undefined : '/expires_at is not that of the request';
}

type Labels = Readonly<Record<string, string>>;

function sameLabels(asked: Labels, made: Labels): boolean {
  const names = Object.keys(asked);
  if (names.length !== Object.keys(made).length) return false;
  return names.every((name) => Object.hasOwn(made, name) && made[name] === asked[name]);
}

/** The service states times in milliseconds. */
function sameTime(asked: string | undefined, made: string | undefined): boolean {
  if (asked === undefined || made === undefined) return false;
  // JSON writes a `Date` of JavaScript as text, so it may be one.
  const apart = Math.abs(new Date(asked).getTime() - Date.parse(made));
  // RFC 3339 has forms that `Date` does not read.
  return Number.isNaN(apart) || apart <= 1;
}

/** What is known here of a recipient: nothing of a registered one, whose public key only the service knows. */
interface Recipient {
  readonly suite?: string;
  readonly thumbprint?: string;
}

/** The recipients of a request; null for a key in plain text. */
type Recipients = readonly Recipient[] | null;

const DEFAULT_SUITE = 'MLKEM768-X25519';

/** Returns what is known of the recipients: nothing of registered ones, and nothing without the Web Crypto API. */
export function recipientsOf(to: SealTo | readonly SealTo[]): Promise<readonly Recipient[]> {
  const all: readonly SealTo[] = Array.isArray(to) ? to : [to];
  return Promise.all(all.map(recipientOf));
}

async function recipientOf(to: SealTo): Promise<Recipient> {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined || typeof to !== 'object' || to === null) return {};
  if (!('public_key' in to)) return {};
  const { public_key: publicKey, suite } = to;
  const bytes = typeof publicKey === 'string' ? bytesOf(publicKey) : undefined;
  // The service says what is wrong with a public key.
  if (bytes === undefined) return {};
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes));
  const thumbprint = toUrlForm(btoa(String.fromCharCode(...digest)));
  return { thumbprint, suite: suite ?? DEFAULT_SUITE };
}

function bytesOf(base64Url: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(base64Url.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Returns the one spelling of a base64 text that is compared here. */
function toUrlForm(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Returns the sealed copies of a key, one for each recipient. */
function sealedIn({ sealed_key: one, sealed_keys: several }: Made): readonly SealedKey[] {
  return several ?? (one ? [one] : []);
}

/** Compares what sealed keys state in the open. `openSealedKey` checks the rest. */
function sealMismatch(made: Made, to: Recipients, deliveryId: unknown): string | undefined {
  if (to === null) return undefined;
  if (made.delivery?.id !== deliveryId) return '/delivery is not that of the request';
  const thumbprints = sealedIn(made).map(({ header }) => headerOf(header).thumbprint);
  for (const [i, sealed] of sealedIn(made).entries()) {
    const wrong = copyMismatch(made, sealed, to[i] ?? {}, thumbprints);
    if (wrong !== undefined)
      return `${made.sealed_keys ? `/sealed_keys/${i}` : '/sealed_key'}${wrong}`;
  }
  return undefined;
}

/** `thumbprints` are those of all copies: each names them in this order. */
function copyMismatch(
  made: Made,
  sealed: SealedKey,
  to: Recipient,
  thumbprints: readonly unknown[],
): string | undefined {
  const header = headerOf(sealed.header);
  const { key_id: id, security_level: level, thumbprint, recipients = [thumbprint] } = header;
  if (id !== made.key_id) return ' is of another key_id';
  if (level !== made.security_level) return ' is of another security_level';
  if (JSON.stringify(recipients) !== JSON.stringify(thumbprints)) return ' names other recipients';
  if (deliveryIn(header) !== made.delivery?.id) return ' is of another delivery';
  if (to.thumbprint === undefined) return undefined;
  const isTo = typeof thumbprint === 'string' && toUrlForm(thumbprint) === to.thumbprint;
  return isTo && sealed.suite === to.suite ? undefined : ' is for another recipient';
}

/** Returns the ID of the delivery that a header names; undefined without. */
export function deliveryIn({ delivery }: JsonObject): unknown {
  return (delivery as { id?: unknown } | null | undefined)?.id;
}

/** Returns the header of a sealed key, unchecked; empty if it is none. */
export function headerOf(base64Url: string): JsonObject {
  try {
    return JSON.parse(new TextDecoder().decode(bytesOf(base64Url))) ?? {};
  } catch {
    return {};
  }
}

/** Names what of a key's receipt is of another key. */
export function receiptMismatch({
  key_id: id,
  receipt,
  receipt_url: url,
}: {
  readonly key_id: string;
  readonly receipt?: unknown;
  readonly receipt_url?: string | undefined;
}): string | undefined {
  if (url !== undefined && !url.endsWith(`/keys/${id}/receipt`)) {
    return '/receipt_url is of another key';
  }
  const of = (receipt as { statement?: { key_id?: unknown } } | null | undefined)?.statement;
  return of === undefined || of.key_id === id ? undefined : '/receipt is of another key';
}

/** For the record of the key with this ID. */
export function recordBelongs(keyId: string): Belongs {
  return ({ key }) =>
    (key as KeyInfo).key_id === keyId ? undefined : '/key is the record of another key';
}

/** For the record of a key that was revoked: SP 800-57 Part 1 Rev. 5, §7. */
export function revocationBelongs(keyId: string, reason: RevocationReason): Belongs {
  return (answer, headers) => {
    const { status, revoked_at: at } = answer.key as KeyInfo;
    const other = recordBelongs(keyId)(answer, headers);
    if (other !== undefined) return other;
    const isRevoked =
      status === 'compromised' || (status === 'deactivated' && reason !== 'key_compromise');
    return isRevoked && typeof at === 'string' ? undefined : '/key is not revoked for this reason';
  };
}

/** For a page of records: each meets the filters of the query. */
export function listBelongs(query: KeyListQuery): Belongs {
  const names = ['status', 'security_level', 'source', 'api_key_id'] as const;
  const given = [query.label ?? []].flat().map((text) => {
    const colon = text.indexOf(':');
    return [text.slice(0, colon), text.slice(colon + 1)] as const;
  });
  return ({ keys }) => {
    const other = (keys as readonly KeyInfo[]).findIndex(
      (key) =>
        // In JavaScript a level may be given as text: both are the same in a URL.
        names.some((name) => String(query[name] ?? key[name]) !== String(key[name])) ||
        given.some(([name, value]) => key.labels[name] !== value) ||
        !endsAsAsked(key, query),
    );
    return other === -1 ? undefined : `/keys/${other} does not meet the filters`;
  };
}

/** Checks the end of a key: a service that does not know these filters ignores them, and lists all keys. */
function endsAsAsked(key: KeyInfo, { expires_before: before, revoked }: KeyListQuery): boolean {
  const isRevoked = key.revoked_at !== null;
  if ((revoked ?? null) !== null && String(revoked) !== String(isRevoked)) return false;
  if ((before ?? null) === null) return true;
  // RFC 3339 has forms that `Date` does not read.
  return key.expires_at !== null && !(Date.parse(key.expires_at) > Date.parse(String(before)));
}

/** For the receipt of the key with this ID. */
export function receiptBelongs(keyId: string, keyCommitment?: string): Belongs {
  return ({ receipt }) => {
    const { statement } = receipt as { statement: { key_id: string; key_commitment: string } };
    const commitment = keyCommitment ?? statement.key_commitment;
    return statement.key_id === keyId && statement.key_commitment === commitment
      ? undefined
      : '/receipt is of another key';
  };
}
