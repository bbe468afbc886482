/**
 * The part of a key's receipt that is fixed with the key: the commitment to the key, and the salt of its
 * statement.
 *
 *   key_commitment = HMAC-SHA-256(opening, "phm/key-commitment/v1" ‖ 0 ‖ u16be(bits) ‖ key ID ‖ 0 ‖ key)
 *
 * The opening goes to the client and is kept nowhere. Without it, a commitment to a key of 128 bits could be
 * tested against guesses by its holder. The ledger's own commitment (`proof/`) is under the master secret.
 */
import { createHmac, randomFillSync } from 'node:crypto';
import { keyCommitmentMessage, OPENING_BYTES } from '#tlog';
import { assertLength, concatBytes, wipe } from '../bytes.ts';
import type { SourceCredit } from '../entropy/index.ts';
import { formatKeyId } from './key-id.ts';
import { formatSources } from './sources-text.ts';

const SALT_BYTES = 32;

/** Fixed with the key, for its row and its statement. Holds no secret: the salt hides the entry, not the key. */
export interface KeyReceipt {
  /** 32 bytes. */
  readonly keyCommitment: Uint8Array;
  /** 32 random bytes. */
  readonly salt: Uint8Array;
  /** Sources of the key with their credits, as in `RowReceipt`. */
  readonly sources: string;
}

/** Commits to a key under a fresh opening. The caller owns `opening` and MUST wipe it. */
export function commitToKey(
  key: Uint8Array,
  keyId: Uint8Array,
  sources: readonly SourceCredit[],
): { readonly opening: Buffer; readonly receipt: KeyReceipt } {
  const opening = takeRandom(OPENING_BYTES);
  const salt = takeRandom(SALT_BYTES);
  const committed = keyCommitment(opening, formatKeyId(keyId), key);
  return { opening, receipt: { keyCommitment: committed, salt, sources: formatSources(sources) } };
}

/**
 * Returns the commitment to a key, 32 bytes. `keyId` is the text `phm_…`. Throws `TypeError` unless the opening
 * has 32 bytes: HMAC pads a shorter one, so that two openings would fit.
 */
export function keyCommitment(opening: Uint8Array, keyId: string, key: Uint8Array): Buffer {
  assertLength('opening', opening, OPENING_BYTES);
  const message = keyCommitmentMessage(key.length * 8, keyId, key);
  try {
    return createHmac('sha256', opening).update(message).digest();
  } finally {
    wipe(message);
  }
}

/**
 * Random bytes for the next keys of this thread: a draw for 64 keys costs as much as a draw for one
 * (bench/key-receipt.ts). A part is used once, and wiped as it is taken.
 */
const reserve = Buffer.alloc(64 * (OPENING_BYTES + SALT_BYTES));
let taken = reserve.length;

/** Returns fresh random bytes in separate memory. `lengthBytes` is 32: the reserve holds a whole number of parts. */
function takeRandom(lengthBytes: number): Buffer {
  if (taken === reserve.length) {
    randomFillSync(reserve);
    taken = 0;
  }
  const part = reserve.subarray(taken, taken + lengthBytes);
  taken += lengthBytes;
  const bytes = concatBytes(part);
  wipe(part);
  return bytes;
}

/** Overwrites a key and its opening. */
export function wipeKey({
  key,
  opening,
}: {
  readonly key: Uint8Array;
  readonly opening: Uint8Array | null;
}): void {
  wipe(key);
  if (opening) wipe(opening);
}
