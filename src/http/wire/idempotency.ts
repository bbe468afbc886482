/**
 * The header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), and the hash that binds its value to one
 * request. The ledger keeps both with the keys that the request generated.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { canonicalJson, type JsonObject } from '#tlog';
import { AppError } from '../../errors.ts';

const MAX_LENGTH = 255;

const VISIBLE = /^[\x21-\x7e]+$/;

/** The draft's form (§2.1): a String of RFC 9651 §3.3.3, here without spaces. */
const QUOTED = /^"((?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/**
 * Returns the value of the header, 1 to 255 visible ASCII characters, or null without the header. The quoted form of the
 * draft names the same key as the bare form. Throws `invalid_request` for anything else, also for a repeated header,
 * which Node joins with a comma and a space.
 */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const given = headers['idempotency-key'];
  if (given === undefined) return null;
  const text = String(given);
  const key = text.startsWith('"') ? unquote(text) : text;
  if (key.length <= MAX_LENGTH && VISIBLE.test(key)) return key;
  throw new AppError('invalid_request', {
    detail: `The header Idempotency-Key must have 1 to ${MAX_LENGTH} visible ASCII characters, bare or in double quotes; got ${describe(text)}.`,
    remedy: 'Send it once, with a new UUID for each new request.',
  });
}

/** Returns the value of a quoted string; empty if it is malformed. */
function unquote(text: string): string {
  return (QUOTED.exec(text)?.[1] ?? '').replace(/\\(.)/g, '$1');
}

/** Quotes nothing: the value may be a key. */
function describe(text: string): string {
  if (text === '' || text === '""') return 'an empty value';
  const length = `${text.length} character${text.length === 1 ? '' : 's'}`;
  if (!VISIBLE.test(text)) return `${length}, with spaces or characters outside ASCII`;
  const isBroken = text.startsWith('"') && !QUOTED.test(text);
  return isBroken ? `${length}, with a quote at the start but no quoted string` : length;
}

/**
 * Returns the SHA-256 of a request: its method, its path without the base path, and the RFC 8785 form of its known fields
 * after defaults. Requests that ask for the same have the same hash, whatever their unknown fields.
 */
export function requestHash(path: string, fields: JsonObject): Uint8Array {
  return createHash('sha256')
    .update(`POST ${path}\n${canonicalJson(fields)}`)
    .digest();
}
