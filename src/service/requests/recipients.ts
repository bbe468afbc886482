/** The recipients of a request for keys: by their public keys, or by names that the account registered. */
import type { GenerateOutcome, Recipient, SealTo } from '../../keys/order.ts';

/** No earlier answer: the keys must be made, for these recipients; in plaintext without any. */
export interface ToMake {
  readonly kind: 'to_make';
  readonly recipients: readonly Recipient[];
}

/** Returns the names to look up, in order. */
export function namesIn(sealTo: readonly SealTo[]): string[] {
  return sealTo.flatMap((one) => ('recipient' in one ? [one.recipient] : []));
}

/**
 * Returns the recipients, or why there is no key for them. `found` are those of `namesIn`, null for an unknown one. A name and
 * a public key may be the same recipient, and so may two names.
 */
export function recipientsOf(
  sealTo: readonly SealTo[],
  found: readonly (Recipient | null)[],
): ToMake | GenerateOutcome {
  const rest = [...found];
  const all = sealTo.map((one) => ('recipient' in one ? (rest.shift() ?? null) : one));
  const unknown = all.indexOf(null);
  if (unknown !== -1) return { kind: 'unknown_recipient', index: unknown };
  const recipients = all as Recipient[];
  const placeOf = ({ publicKey }: Recipient) =>
    recipients.findIndex((one) => Buffer.compare(one.publicKey, publicKey) === 0);
  const second = recipients.findIndex((one, i) => placeOf(one) !== i);
  if (second === -1) return { kind: 'to_make', recipients };
  return { kind: 'same_recipient', first: placeOf(recipients[second] as Recipient), second };
}
