/**
 * The part of a key's receipt that is fixed with the key: the commitment to the key, and the salt of its
 * statement.
 *
 *   key_commitment = HMAC-SHA-256(opening, "phm/key-commitment/v1" ‖ 0 ‖ u16be(bits) ‖ key ID ‖ 0 ‖ key)
 *
 * The opening goes to the client and is kept nowhere. Without it, a commitment to a key of 128 bits could be
 * tested against guesses by its holder. The ledger's own commitment (`proof/`) is under the master secret.
 */
import { randomFillSync } from 'node:crypto';
import { OPENING_BYTES } from '#tlog';
import { assertLength, concatBytes, newBytes, wipe } from '../bytes.ts';
import type { SourceCredit } from '../entropy/index.ts';
import { HmacKey } from '../proof/index.ts';
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

/**
 * Commits to a key under a fresh opening. `keyId` is the text `phm_…`. With `keepsOpening`, the caller owns `opening` and
 * MUST wipe it; otherwise it is wiped here and null.
 */
export function commitToKey(
  key: Uint8Array,
  keyId: string,
  sources: readonly SourceCredit[],
  keepsOpening: boolean,
): { readonly opening: Buffer | null; readonly receipt: KeyReceipt } {
  const part = takeRandom();
  try {
    const drawn = part.subarray(0, OPENING_BYTES);
    const salt = Buffer.alloc(SALT_BYTES);
    part.copy(salt, 0, OPENING_BYTES);
    const receipt = {
      keyCommitment: keyCommitment(drawn, keyId, key),
      salt,
      sources: formatSources(sources),
    };
    return { opening: keepsOpening ? concatBytes(drawn) : null, receipt };
  } finally {
    wipe(part);
  }
}

const COMMITMENT_LABEL = 'phm/key-commitment/v1';

/** HMAC under one opening at a time. Memory for each would cost as much as the HMAC (bench/key-path.ts). */
const underOpening = new HmacKey(newBytes(OPENING_BYTES));

/**
 * Returns the commitment to a key, 32 bytes. `keyId` is the text `phm_…`. Throws `TypeError` unless the opening
 * has 32 bytes: HMAC pads a shorter one, so that two openings would fit.
 */
export function keyCommitment(opening: Uint8Array, keyId: string, key: Uint8Array): Buffer {
  assertLength('opening', opening, OPENING_BYTES);
  const bits = String.fromCharCode((key.length * 8) >>> 8, (key.length * 8) & 0xff);
  // The message of `keyCommitmentMessage`; all but the key is ASCII and two bytes of length.
  const prefix = Buffer.from(`${COMMITMENT_LABEL}\0${bits}${keyId}\0`, 'latin1');
  underOpening.setKey(opening);
  try {
    return underOpening.mac(prefix, key);
  } finally {
    underOpening.wipe();
  }
}

const PART_BYTES = OPENING_BYTES + SALT_BYTES;

/**
 * Random bytes for the next keys of this thread: a draw for 64 keys costs as much as a draw for one
 * (bench/key-path.ts). A part is used once, and then wiped.
 */
const reserve: Buffer = newBytes(64 * PART_BYTES);
let taken = reserve.length;

/** Returns fresh random bytes for an opening and a salt, in the reserve. The caller MUST wipe them. */
function takeRandom(): Buffer {
  if (taken === reserve.length) {
    randomFillSync(reserve);
    taken = 0;
  }
  const part = reserve.subarray(taken, taken + PART_BYTES);
  taken += PART_BYTES;
  return part;
}

/** Overwrites a key, its opening and the digest of its answer. */
export function wipeKey({
  key,
  opening,
  answerDigest,
}: {
  readonly key: Uint8Array;
  readonly opening: Uint8Array | null;
  readonly answerDigest?: Uint8Array;
}): void {
  wipe(key);
  if (opening) wipe(opening);
  if (answerDigest) wipe(answerDigest);
}
