/** Checks arguments of callers without types. No message quotes a value that may be secret. */

/** Longest timeout of timers. */
const MAX_MS = 2 ** 31 - 1;
const MAX_RETRIES = 100;

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

export const KEY_ID: RegExp = /^phm_[1-9][0-9]{0,38}$/;

export const DELIVERY_ID: RegExp = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A label, which leaves room for what makes an attempt's `X-Request-Id` new. */
const LABEL = /^[A-Za-z0-9._-]{1,100}$/;

interface Durations {
  readonly timeoutMs?: number | undefined;
  readonly attemptTimeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
}

/** Returns the limits of a call, with defaults. Throws `RangeError`. */
export function readDurations(given: Durations): {
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly maxRetries: number;
  /** True if attempts that find no server do not count as retries. */
  readonly reconnects: boolean;
} {
  return {
    timeoutMs: whole('timeoutMs', given.timeoutMs ?? 60_000, 1, MAX_MS),
    attemptTimeoutMs: whole('attemptTimeoutMs', given.attemptTimeoutMs ?? 30_000, 1, MAX_MS),
    maxRetries: whole('maxRetries', given.maxRetries ?? 3, 0, MAX_RETRIES),
    reconnects: given.maxRetries === undefined,
  };
}

/** Returns the URL without trailing slashes. Throws `TypeError`. */
export function resolveBase(baseUrl: string): string {
  const { document, location } = globalThis as {
    document?: { baseURI: string };
    location?: { href: string };
  };
  const page = document?.baseURI ?? location?.href;
  const given: unknown = baseUrl === '' && page !== undefined ? './' : baseUrl;
  // A browser would read `undefined` as the name of a folder.
  if (given === undefined || given === null || !URL.canParse(String(given), page)) {
    throw new TypeError('baseUrl must be the URL of the service, such as https://keys.example');
  }
  const url = new URL(String(given), page);
  const { protocol, username, password, search, hash, origin, pathname } = url;
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new TypeError(`baseUrl must start with https: or http:, not ${protocol}`);
  }
  if (username || password || search || hash) {
    throw new TypeError('baseUrl must have no user, password, query or fragment');
  }
  return origin + pathname.replace(/\/+$/, '');
}

/** Throws `TypeError` for an API key that cannot be a header value: `fetch` would quote it in its error. */
export function checkApiKey(apiKey: string): string {
  if (typeof apiKey !== 'string') {
    throw new TypeError(`apiKey must be a string, got ${kindOf(apiKey)}`);
  }
  if (apiKey === '') throw new TypeError('apiKey must not be empty: check where it comes from');
  if (/^[\x21-\x7e]+$/.test(apiKey)) return apiKey;
  throw new TypeError('apiKey must be printable ASCII without spaces: check for a line end');
}

/** 32 bytes in base64 (RFC 4648 §4), with unused bits that are zero. */
const COMMITMENT = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** Throws `TypeError` for a text that is no key ID. The message does not quote it: it may be a key. */
export function checkKeyId(keyId: string): string {
  if (isKeyId(keyId)) return keyId;
  throw new TypeError('keyId must be the key_id of a generated key: "phm_" and a decimal number');
}

/** Throws `TypeError` for a text that is no commitment. The message does not quote it: it may be an opening. */
export function checkCommitment(commitment: string): string {
  if (typeof commitment === 'string' && COMMITMENT.test(commitment)) return commitment;
  throw new TypeError('keyCommitment must be 32 bytes in base64, as in the header of a sealed key');
}

/** Reports whether a value has the form of a key ID. */
export function isKeyId(value: unknown): value is string {
  return typeof value === 'string' && KEY_ID.test(value);
}

export function assertRequestId(requestId: string | undefined): void {
  if (requestId === undefined) return;
  if (typeof requestId === 'string' && LABEL.test(requestId)) return;
  throw new TypeError('requestId must be 1 to 100 letters, digits, ".", "_" or "-"');
}

/** Reports whether a value has the form of an `X-Request-Id`. */
export function isRequestId(value: unknown): value is string {
  return typeof value === 'string' && REQUEST_ID.test(value);
}

/** Accepts null for no signal, as `fetch` does. */
export function assertSignal(signal: unknown): void {
  if (signal === undefined || signal === null) return;
  if (typeof (signal as Partial<AbortSignal>).throwIfAborted === 'function') return;
  throw new TypeError(
    `signal must be an AbortSignal, such as the signal of an AbortController, got ${typeof signal}`,
  );
}

/** Throws `TypeError` for anything but an object, without quoting it: it may be a key. */
export function assertObject(name: string, value: unknown, example: string): void {
  if (typeof value === 'object' && value !== null) return;
  throw new TypeError(`${name} must be an object such as ${example}, got ${kindOf(value)}`);
}

/** Throws `TypeError` for a `seal_to` that has a private key, or may have one as text, before it is sent. */
export function assertNoPrivateKey(sealTo: unknown): void {
  if (typeof sealTo === 'string') {
    throw new TypeError('seal_to must be sealTo(recipient) or { recipient: name }, got a string');
  }
  if (Array.isArray(sealTo)) sealTo.forEach(assertNoPrivateKey);
  if (typeof sealTo !== 'object' || sealTo === null) return;
  if (!('private_key' in sealTo || 'privateKey' in sealTo)) return;
  throw new TypeError('seal_to has a private key, which must stay with you: use sealTo(recipient)');
}

export function assertFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  throw new TypeError(`${name} must be a function, got ${kindOf(value)}`);
}

export function assertBoolean(name: string, value: unknown): void {
  if (value === undefined || typeof value === 'boolean') return;
  throw new TypeError(`${name} must be true or false, got ${kindOf(value)}`);
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

function whole(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(
    `${name} must be a whole number from ${min} to ${max}, got ${typeof value === 'number' ? value : typeof value}`,
  );
}

/** Returns the ID of a delivery. Throws `TypeError`. */
export function checkDeliveryId(id: string): string {
  if (typeof id === 'string' && DELIVERY_ID.test(id)) return id;
  throw new TypeError('the ID of a delivery must be a lower-case UUID');
}

/** Returns the IDs of deliveries. Throws `TypeError`, also for an empty list, and for one with more than 100 or equal IDs. */
export function checkDeliveryIds(ids: readonly string[]): readonly string[] {
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > 100) {
    throw new TypeError('ids must be a list of 1 to 100 IDs of deliveries');
  }
  for (const id of ids) checkDeliveryId(id);
  if (new Set(ids).size === ids.length) return ids;
  throw new TypeError('ids must name each delivery once');
}

/** Returns the IDs of the deliveries that a request for keys asks for; undefined if it asks for none. The service checks them. */
export function deliveryIdsOf(body: object): readonly unknown[] | undefined {
  const { deliver } = body as { deliver?: { id?: unknown; ids?: unknown } | null };
  if (typeof deliver !== 'object' || deliver === null) return undefined;
  return Array.isArray(deliver.ids) ? deliver.ids : [deliver.id];
}

/** Returns the name of a recipient. Throws `TypeError`. */
export function checkRecipientName(name: string): string {
  if (typeof name === 'string' && name.length > 0 && name.length <= 64) return name;
  throw new TypeError('recipient must be the name of a registered recipient');
}
