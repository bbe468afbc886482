/** A key as text and bytes: the forms that `phm generate` writes and `phm validate` reads. */
import type { GeneratedKey } from '../../../sdk/src/index.ts';

export const KEY_FORMATS = ['hex', 'base64', 'raw', 'jwk', 'env'] as const;
export type KeyFormat = (typeof KEY_FORMATS)[number];

/** The name of a variable in a shell. */
export const VARIABLE_NAME: RegExp = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Bytes of a key of 128, 256 and 384 bits. */
const KEY_BYTES: readonly number[] = [16, 32, 48];

/** Longest text that the service takes for a key. */
const MAX_TEXT = 4_096;

/** A generated key in a form, with a line end unless it is raw. `variable` names it in the form `env`. */
export function encodeKey(
  { key, key_id }: Pick<GeneratedKey, 'key' | 'key_id'>,
  format: KeyFormat,
  variable: string,
): Buffer {
  const bytes = Buffer.from(key, 'hex');
  const lines: Record<Exclude<KeyFormat, 'raw'>, () => string> = {
    hex: () => key,
    base64: () => bytes.toString('base64'),
    jwk: () => JSON.stringify({ kty: 'oct', k: bytes.toString('base64url'), kid: key_id }),
    env: () => `${variable}=${key}`,
  };
  return format === 'raw' ? bytes : Buffer.from(`${lines[format]()}\n`);
}

export interface KeyToValidate {
  /** Hexadecimal, or a text that is none: what is wrong with it, the service says. */
  readonly key: string;
  readonly hash_proof?: string;
}

/** Reads any of the forms, and a whole answer of generate with its proof; undefined: it is none of them. */
export function decodeKey(input: Buffer): KeyToValidate | undefined {
  const text = input.toString('latin1').trim();
  if (/^[0-9a-f]+$/.test(text)) return { key: text };
  if (KEY_BYTES.includes(input.length)) return { key: input.toString('hex') };
  if (text.startsWith('{')) return decodeJson(text);
  const [, value] =
    /^(?:export )?[A-Za-z_][A-Za-z0-9_]*=(["']?)([0-9a-f]+)\1$/.exec(text)?.slice(1) ?? [];
  if (value !== undefined) return { key: value };
  if (isBase64Key(text, 'base64')) return { key: Buffer.from(text, 'base64').toString('hex') };
  return text.length <= MAX_TEXT && /^[\x20-\x7e]+$/.test(text) ? { key: text } : undefined;
}

/** A JSON Web Key (RFC 7517), or an answer of the service. */
function decodeJson(text: string): KeyToValidate | undefined {
  const { kty, k, key, hash_proof: proof } = parseObject(text);
  if (kty === 'oct' && typeof k === 'string' && isBase64Key(k, 'base64url')) {
    return { key: Buffer.from(k, 'base64url').toString('hex') };
  }
  if (typeof key !== 'string') return undefined;
  return typeof proof === 'string' ? { key, hash_proof: proof } : { key };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/**
 * Whether a text is what bytes of a key's length are written as. Digits in uppercase alone are not: they
 * are a key of 256 bits in the wrong case, and would pass for another of 384.
 */
function isBase64Key(text: string, encoding: 'base64' | 'base64url'): boolean {
  if (/^[0-9A-F]+$/.test(text)) return false;
  const bytes = Buffer.from(text, encoding);
  return KEY_BYTES.includes(bytes.length) && bytes.toString(encoding) === text;
}
