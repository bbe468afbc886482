/** The formats of keys that `phm generate` writes and `phm validate` reads. */

import { InvalidArgumentError } from 'commander';
import { decodeText } from '#platform/files';
import { visible } from '#platform/terminal';
import type { GeneratedKey } from '../../../sdk/src/index.ts';

export const KEY_FORMATS = ['hex', 'base64', 'raw', 'jwk', 'env'] as const;
export type KeyFormat = (typeof KEY_FORMATS)[number];

/** Name of the shell variable in the format `env`, without `--env-name`. */
export const DEFAULT_VARIABLE = 'PHM_KEY';

/** Reads `--env-name`. */
export function parseVariable(text: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text)) return text;
  throw new InvalidArgumentError('use letters, digits and "_", and do not start with a digit.');
}

/** Bytes of a key of 128, 256 and 384 bits. */
const KEY_BYTES: readonly number[] = [16, 32, 48];

/** Longest text that the service accepts as a key. */
const MAX_TEXT = 4_096;

/** Encodes a generated key, with a line end unless it is raw. `variable` is its name in the format `env`. */
export function encodeKey(
  { key, key_id }: Pick<GeneratedKey, 'key' | 'key_id'>,
  format: KeyFormat,
  variable: string,
): Buffer {
  const bytes = Buffer.from(key, 'hex');
  const lines: Record<Exclude<KeyFormat, 'raw'>, () => string> = {
    hex: () => key,
    base64: () => bytes.toString('base64'),
    jwk: () => visible(JSON.stringify({ kty: 'oct', k: bytes.toString('base64url'), kid: key_id })),
    env: () => `${variable}=${key}`,
  };
  return format === 'raw' ? bytes : Buffer.from(`${lines[format]()}\n`);
}

export interface KeyToValidate {
  /** Hexadecimal, or other text, which the service rejects with a reason. */
  readonly key: string;
  readonly hash_proof?: string;
}

/**
 * Reads any of the formats, or a whole answer of generate with its proof. Returns undefined for anything else. Throws
 * `TextError` for a text that cannot be read.
 */
export function decodeKey(input: Buffer): KeyToValidate | undefined {
  const digits = input.toString('latin1').trim();
  if (/^[0-9a-f]+$/.test(digits)) return { key: digits };
  // Raw bytes may be anything, also the start of UTF-16.
  if (KEY_BYTES.includes(input.length)) return { key: input.toString('hex') };
  const text = decodeText(input).trim();
  if (/^[0-9a-f]+$/.test(text)) return { key: text };
  if (text.startsWith('{')) return decodeJson(text);
  const [, value] =
    /^(?:export )?[A-Za-z_][A-Za-z0-9_]*=(["']?)([0-9a-f]+)\1$/.exec(text)?.slice(1) ?? [];
  if (value !== undefined) return { key: value };
  if (isBase64Key(text, 'base64')) return { key: Buffer.from(text, 'base64').toString('hex') };
  return text.length <= MAX_TEXT && /^[\x20-\x7e]+$/.test(text) ? { key: text } : undefined;
}

/** Reads a JSON Web Key (RFC 7517) or an answer of the service. */
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
 * Reports whether the text encodes a key of a valid length. Uppercase hexadecimal digits do not: 64 of them
 * are a 256-bit key in the wrong case, and would pass for a 384-bit key.
 */
function isBase64Key(text: string, encoding: 'base64' | 'base64url'): boolean {
  if (/^[0-9A-F]+$/.test(text)) return false;
  const bytes = Buffer.from(text, encoding);
  return KEY_BYTES.includes(bytes.length) && bytes.toString(encoding) === text;
}
