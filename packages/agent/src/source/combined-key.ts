/**
 * One key of two: each service makes a key of its own for the same delivery, and both ends derive the same key from the two. Whoever
 * lacks one of them knows nothing of the result, as far as HMAC-SHA-512 extracts well from a
 * secret beside a known one (SP 800-56C Rev. 2 §4).
 */
import { hkdfSync } from 'node:crypto';
import { canonicalJson } from '../../../tlog/src/index.ts';
import type { OpenedCopy } from './key-boxes.ts';

/** The salt of HKDF: it separates these keys from all others that could be derived of the same input. */
const LABEL = 'phm/two-services/v1';

/** Returns why two copies cannot be of one key at both ends; null if they can. */
export function mismatchOf(one: OpenedCopy, other: OpenedCopy): string | null {
  if (one.id !== other.id) return 'the services state different deliveries';
  if (one.context !== other.context) return 'the services state different contexts';
  if (one.key.length !== other.key.length) return 'the services made keys of different sizes';
  const [own, others] = [one, other].map(({ thumbprints }) => [...thumbprints].sort().join());
  return own === others ? null : 'the services sealed to different recipients';
}

/** Derives the key of two copies, in any order. Their bytes stay the caller's. Throws `RangeError` if they do not match. */
export function combine(one: OpenedCopy, other: OpenedCopy): OpenedCopy {
  const mismatch = mismatchOf(one, other);
  if (mismatch !== null) throw new RangeError(mismatch);
  const ordered = [one, other].sort((a, b) => (originOf(a) < originOf(b) ? -1 : 1));
  const secret = Buffer.concat(ordered.map(({ key }) => key));
  const size = one.key.length;
  const info = canonicalJson({
    bits: size * 8,
    context: one.context,
    id: one.id,
    services: ordered.flatMap(({ origins }) => origins.map((origin) => ({ ...origin }))),
  });
  const key = new Uint8Array(hkdfSync('sha512', secret, LABEL, info, size));
  secret.fill(0);
  return {
    id: one.id,
    key,
    thumbprints: one.thumbprints,
    context: one.context,
    expiresAtMs: Math.min(one.expiresAtMs, other.expiresAtMs),
    origins: ordered.flatMap(({ origins }) => origins),
  };
}

const originOf = ({ origins: [origin] }: OpenedCopy): string => origin?.service ?? '';
