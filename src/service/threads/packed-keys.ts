/**
 * Keys and rows as they travel between threads: the bytes of many share one buffer, because each buffer of its own costs
 * about a microsecond on both sides (bench/batches.ts).
 */
import type { ReleasedKey } from '../../keys/order.ts';
import type { LedgerRow } from '../../ledger/index.ts';

/** Buffer that byte strings are copied to. */
class Slab {
  readonly buffer: ArrayBuffer;
  #used = 0;

  constructor(lengthBytes: number) {
    this.buffer = new ArrayBuffer(lengthBytes);
  }

  add(bytes: Uint8Array): Buffer<ArrayBuffer> {
    const view = Buffer.from(this.buffer, this.#used, bytes.length);
    view.set(bytes);
    this.#used += bytes.length;
    return view;
  }
}

/** Copies keys and openings to one buffer. The caller still owns the given keys, and MUST wipe both. */
export function packKeys(keys: readonly ReleasedKey[]): ReleasedKey[] {
  const lengths = keys.map(({ key, opening }) => key.length + (opening?.length ?? 0));
  const slab = new Slab(sum(lengths));
  return keys.map((one) => ({
    ...one,
    key: slab.add(one.key),
    opening: one.opening && slab.add(one.opening),
  }));
}

/** Returns the buffers of packed keys, which are transferred. */
export function buffersOf(keys: readonly ReleasedKey[]): ArrayBuffer[] {
  return [...new Set(keys.map(({ key }) => key.buffer as ArrayBuffer))];
}

/** Copies all byte strings of rows to one buffer. */
export function packRows(rows: readonly LedgerRow[]): LedgerRow[] {
  const slab = new Slab(sum(rows.map(bytesOfRow)));
  return rows.map((row) => packRow(row, slab));
}

function bytesOfRow({ keyId, commitment, evidence, sealed, receipt }: LedgerRow): number {
  const parts = [
    keyId,
    commitment.digest,
    evidence?.pValues,
    sealed?.recipient,
    sealed?.digest,
    receipt?.keyCommitment,
    receipt?.salt,
    receipt?.pending?.entry,
    receipt?.pending?.mac,
  ];
  return sum(parts.map((part) => part?.length ?? 0));
}

function packRow(row: LedgerRow, slab: Slab): LedgerRow {
  const { commitment, evidence, sealed, receipt } = row;
  const keyId = slab.add(row.keyId);
  const pending = receipt?.pending;
  return {
    ...row,
    keyId,
    commitment: { ...commitment, digest: slab.add(commitment.digest) },
    evidence: evidence && { ...evidence, pValues: slab.add(evidence.pValues) },
    sealed: sealed && {
      recipient: slab.add(sealed.recipient),
      digest: slab.add(sealed.digest),
    },
    receipt: receipt && {
      ...receipt,
      keyCommitment: slab.add(receipt.keyCommitment),
      salt: slab.add(receipt.salt),
      pending: pending
        ? { ...pending, entryId: keyId, entry: slab.add(pending.entry), mac: slab.add(pending.mac) }
        : null,
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
