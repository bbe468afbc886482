/** Seals a generated key to its recipients, in the thread that generated it: the key itself goes no further. */
import { timingSafeEqual } from 'node:crypto';
import {
  type Copies,
  type Recipient,
  readPlaintext,
  SealError,
  type Sealed,
  type SealedContent,
  type SealedKey,
  Sealer,
} from '#sealing';
import { encodeBase64 } from '#tlog';
import { formatTimestamp } from '../clock.ts';
import type { RowDelivery, RowSeal } from '../ledger/index.ts';
import { toRowSeal } from '../ledger/row-seals.ts';
import { formatDeliveryId } from './delivery-id.ts';
import { NODE_PRIMITIVES } from './hpke-node.ts';
import { keyCommitment, wipeKey } from './key-receipt.ts';
import type { Answered, GeneratedKey, SecurityLevel } from './order.ts';

/** A sealed key, and what is recorded and answered about it. It holds no secret. */
interface SealedMaterial extends Omit<GeneratedKey, Answered> {
  /** One for each recipient, in their order. */
  readonly sealedKeys: readonly SealedKey[];
  /** Recipients and digests, as the row has them. */
  readonly seal: RowSeal;
}

/** What the header states beside the key's own values. */
interface SealingFacts {
  /** Origin of the log, or null without a log. */
  readonly service: string | null;
  /** The row's time: when the request was accepted, in ms. */
  readonly createdMs: number;
  readonly securityLevel: SecurityLevel;
  readonly delivery: RowDelivery;
}

/** Nothing can be sealed to one of the recipients. The message is one sentence for the caller. */
export class RefusedRecipientError extends Error {
  override readonly name = 'RefusedRecipientError';
  /** The place of the recipient in the order. */
  readonly index: number;

  constructor(index: number, cause: SealError) {
    super(cause.message, { cause });
    this.index = index;
  }
}

/** Returns the sealer of the recipient at a place. Rejects with `RefusedRecipientError` if the public key is refused. */
export function sealerTo(recipient: Recipient, index: number): Promise<Sealer> {
  return refusingAt(index, Sealer.to(recipient, NODE_PRIMITIVES));
}

/**
 * Seals a key to one recipient or several, and always wipes it and its opening. Rejects with `RefusedRecipientError` if the
 * KEM refuses a public key, with `AlteredKeyError` if the plaintext is not what was committed to, and with `TypeError` for a
 * key without opening and commitment.
 */
export async function sealKey(
  generated: GeneratedKey,
  sealers: readonly Sealer[],
  { service, createdMs, securityLevel, delivery }: SealingFacts,
): Promise<SealedMaterial> {
  const { key, opening, hashProof, answerDigest: _, ...rest } = generated;
  try {
    if (opening === null || rest.receipt === null) {
      throw new TypeError(
        '"generated" expected a key with opening and commitment, got one without',
      );
    }
    const header = {
      service,
      key_id: rest.keyIdText,
      security_level: securityLevel,
      time: formatTimestamp(createdMs),
      key_commitment: encodeBase64(rest.receipt.keyCommitment),
    };
    const { keyCommitment: committed } = rest.receipt;
    const inspect = (plaintext: Uint8Array) => {
      const content = readPlaintext(plaintext, securityLevel / 8);
      const fits = content !== null && fitsCommitment(content, rest.keyIdText, committed);
      if (!fits || content.hashProof !== hashProof) throw new AlteredKeyError();
    };
    const order = {
      header,
      key,
      opening,
      hashProof,
      inspect,
      copies: copiesFor(sealers, delivery),
    };
    const sealed: Sealed[] = [];
    for (const [i, sealer] of sealers.entries()) {
      sealed.push(await refusingAt(i, sealer.seal(order)));
    }
    const sealedKeys = sealed.map(({ sealedKey }) => sealedKey);
    return { ...rest, sealedKeys, seal: sealOf(sealed, delivery) };
  } finally {
    wipeKey({ key, opening });
  }
}

/** Returns what the headers of the copies have in common; undefined for one recipient without a delivery. */
function copiesFor(
  sealers: readonly Sealer[],
  { deliveryId, deliveryContext: context }: RowDelivery,
): Copies | undefined {
  if (sealers.length < 2 && deliveryId === null) return undefined;
  return {
    recipients: sealers.map(({ thumbprint }) => encodeBase64(thumbprint)),
    delivery: deliveryId && {
      id: formatDeliveryId(deliveryId),
      context: context && encodeBase64(context),
    },
  };
}

function sealOf(sealed: readonly Sealed[], delivery: RowDelivery): RowSeal {
  const [first, ...others] = sealed.map(({ thumbprint, digest }) => ({
    recipient: thumbprint,
    digest,
  }));
  if (first === undefined) throw new TypeError('"sealers" expected at least one, got none');
  return toRowSeal([first, ...others], delivery);
}

async function refusingAt<T>(index: number, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof SealError ? new RefusedRecipientError(index, error) : error;
  }
}

/** What would be sealed is not what was committed to. The process MUST latch. */
export class AlteredKeyError extends Error {
  override readonly name = 'AlteredKeyError';
}

/** Reports whether key and opening are those of a commitment, in constant time, and wipes them. */
function fitsCommitment(content: SealedContent, keyIdText: string, committed: Uint8Array): boolean {
  try {
    return timingSafeEqual(keyCommitment(content.opening, keyIdText, content.key), committed);
  } finally {
    wipeKey(content);
  }
}
