/** The platform's Web Crypto API. */

export type Subtle = (typeof globalThis)['crypto']['subtle'];

/** Throws `TypeError` on a web page that is neither served over TLS nor local: browsers offer no cryptography there. */
export function findSubtle(): Subtle {
  const subtle = globalThis.crypto?.subtle;
  if (subtle !== undefined) return subtle;
  throw new TypeError(
    'the Web Crypto API is not available: a page needs https:, or http://localhost',
  );
}
