/**
 * Rows of the keys of one job, as they travel from a suite worker through the main thread, which forwards them unread, to
 * the key worker.
 *
 * A message of objects repeats the name of each property in each row, and costs three threads some 20 µs a key, and
 * this 3. Here the members that are equal in rows of a job travel once, as a form, and the bytes of all rows
 * in one buffer.
 */
import type { LedgerRow, RowReceipt } from '../../ledger/index.ts';
import { NEW_COLUMNS, type Place } from '../../ledger/key-columns.ts';
import type { Commitment } from '../../proof/index.ts';
import { ByteReader, ByteWriter } from './packed-bytes.ts';

export interface PackedRows {
  readonly count: number;
  /** What consecutive rows have in common, without its byte strings. Each row with evidence has a form of its own. */
  readonly forms: readonly LedgerRow[];
  /** `COLUMNS` of each row. */
  readonly columns: Float64Array;
  /** The byte strings of each row, in the order of `writeBytes`. */
  readonly bytes: ArrayBuffer;
}

/** Numbers of one row: index of its form, `latencyUs`, `entropyBits`. */
const COLUMNS = 3;

/** Lengths of byte strings: key ID, SHA-256, and HMAC-SHA-256. */
const KEY_ID_BYTES = 16;
const DIGEST_BYTES = 32;

const NOTHING = Buffer.alloc(0);

/** Returns how many rows a task or a part of a batch has. */
export function rowCount(packed: readonly PackedRows[]): number {
  let sum = 0;
  for (const { count } of packed) sum += count;
  return sum;
}

export function packRows(rows: readonly LedgerRow[]): PackedRows {
  const forms: LedgerRow[] = [];
  const columns = new Float64Array(COLUMNS * rows.length);
  let form: LedgerRow | undefined;
  let length = 0;
  rows.forEach((row, i) => {
    if (!form || !hasForm(row, form)) {
      form = formOf(row);
      forms.push(form);
    }
    columns[COLUMNS * i] = forms.length - 1;
    columns[COLUMNS * i + 1] = row.latencyUs;
    columns[COLUMNS * i + 2] = row.entropyBits;
    length += lengthOf(row);
  });
  const writer = new ByteWriter(length);
  for (const row of rows) writeBytes(row, writer);
  return { count: rows.length, forms, columns, bytes: writer.buffer };
}

/** Returns the rows. Their byte strings are views of the packed bytes. */
export function unpackRows({ count, forms, columns, bytes }: PackedRows): LedgerRow[] {
  const reader = new ByteReader(bytes);
  return Array.from({ length: count }, (_, i) => {
    const at = COLUMNS * i;
    return readRow(forms[columns[at]], columns[at + 1], columns[at + 2], reader);
  });
}

/** Columns that each row has for itself. */
const OF_EACH: readonly Place[] = ['keyId', 'latencyUs', 'entropyBits'];

/** The other columns that are members of a row. Those of its parts are below, by hand: they change, and they cost, less. */
const SHARED = NEW_COLUMNS.map(({ place }) => place).filter(
  (place): place is Place & keyof LedgerRow => !place.includes('.') && !OF_EACH.includes(place),
);

/** Reports whether a row differs from its form in its numbers and byte strings alone. */
function hasForm(row: LedgerRow, form: LedgerRow): boolean {
  if (row.evidence || form.evidence) return false;
  for (const member of SHARED) if (row[member] !== form[member]) return false;
  return (
    row.commitment.version === form.commitment.version &&
    hasVersions(row.otherCommitments, form.otherCommitments) &&
    hasFormOfSeal(row.sealed, form.sealed) &&
    hasFormOfReceipt(row.receipt, form.receipt)
  );
}

function hasVersions(ones: readonly Commitment[], form: readonly Commitment[]): boolean {
  return ones.length === form.length && ones.every(({ version }, i) => version === form[i].version);
}

function hasFormOfSeal(one: LedgerRow['sealed'], form: LedgerRow['sealed']): boolean {
  if (!one || !form) return one === form;
  return (
    one.further?.length === form.further?.length &&
    one.deliveryId?.length === form.deliveryId?.length &&
    one.deliveryContext?.length === form.deliveryContext?.length
  );
}

function hasFormOfReceipt(one: LedgerRow['receipt'], form: LedgerRow['receipt']): boolean {
  if (!one || !form) return one === form;
  return (
    one.strengthBits === form.strengthBits &&
    one.sources === form.sources &&
    one.softwareId === form.softwareId &&
    one.pending?.logId === form.pending?.logId &&
    one.pending?.kind === form.pending?.kind &&
    one.pending?.secretVersion === form.pending?.secretVersion
  );
}

function formOf(row: LedgerRow): LedgerRow {
  const { commitment, otherCommitments, sealed, receipt } = row;
  const pending = receipt?.pending;
  return {
    ...row,
    keyId: NOTHING,
    commitment: withoutDigest(commitment),
    otherCommitments: otherCommitments.map(withoutDigest),
    sealed: sealed && {
      recipient: NOTHING,
      digest: NOTHING,
      // Their lengths count. Zeros in memory of their own: a message takes along the whole memory behind a view.
      further: sealed.further && Buffer.alloc(sealed.further.length),
      deliveryId: sealed.deliveryId && Buffer.alloc(sealed.deliveryId.length),
      deliveryContext: sealed.deliveryContext && Buffer.alloc(sealed.deliveryContext.length),
    },
    receipt: receipt && {
      ...receipt,
      keyCommitment: NOTHING,
      salt: NOTHING,
      pending: pending ? { ...pending, entryId: NOTHING, entry: NOTHING, mac: NOTHING } : null,
    },
  };
}

function withoutDigest({ version }: Commitment): Commitment {
  return { version, digest: NOTHING, fingerprint: 0n };
}

function lengthOf({ otherCommitments, sealed, receipt }: LedgerRow): number {
  const commitments = 1 + otherCommitments.length;
  const digests = commitments + (sealed ? 2 : 0) + (receipt ? 2 : 0) + (receipt?.pending ? 2 : 0);
  const shared = sharedParts(sealed).reduce((sum, { length }) => sum + length, 0);
  return KEY_ID_BYTES + digests * DIGEST_BYTES + shared;
}

/** The columns of a seal that not every sealed key has. */
function sharedParts(sealed: LedgerRow['sealed']): Uint8Array[] {
  const parts = [sealed?.further, sealed?.deliveryId, sealed?.deliveryContext];
  return parts.filter((one) => one !== null && one !== undefined);
}

function writeBytes(row: LedgerRow, writer: ByteWriter): void {
  const { keyId, commitment, otherCommitments, sealed, receipt } = row;
  writer.add(keyId, KEY_ID_BYTES);
  writer.add(commitment.digest, DIGEST_BYTES);
  for (const { digest } of otherCommitments) writer.add(digest, DIGEST_BYTES);
  if (sealed) {
    writer.add(sealed.recipient, DIGEST_BYTES);
    writer.add(sealed.digest, DIGEST_BYTES);
    for (const part of sharedParts(sealed)) writer.add(part, part.length);
  }
  if (!receipt) return;
  writer.add(receipt.keyCommitment, DIGEST_BYTES);
  writer.add(receipt.salt, DIGEST_BYTES);
  if (!receipt.pending) return;
  writer.add(receipt.pending.entry, DIGEST_BYTES);
  writer.add(receipt.pending.mac, DIGEST_BYTES);
}

/** Reads what `writeBytes` wrote. */
function readRow(
  form: LedgerRow,
  latencyUs: number,
  entropyBits: number,
  reader: ByteReader,
): LedgerRow {
  const keyId = reader.take(KEY_ID_BYTES);
  return {
    ...form,
    keyId,
    commitment: readCommitment(form.commitment, reader),
    otherCommitments: form.otherCommitments.map((one) => readCommitment(one, reader)),
    latencyUs,
    entropyBits,
    sealed: form.sealed && {
      recipient: reader.take(DIGEST_BYTES),
      digest: reader.take(DIGEST_BYTES),
      further: form.sealed.further && reader.take(form.sealed.further.length),
      deliveryId: form.sealed.deliveryId && reader.take(form.sealed.deliveryId.length),
      deliveryContext:
        form.sealed.deliveryContext && reader.take(form.sealed.deliveryContext.length),
    },
    receipt: form.receipt && readReceipt(form.receipt, keyId, reader),
  };
}

function readCommitment({ version }: Commitment, reader: ByteReader): Commitment {
  const digest = reader.take(DIGEST_BYTES);
  return { version, digest, fingerprint: digest.readBigInt64BE(0) };
}

function readReceipt(form: RowReceipt, entryId: Uint8Array, reader: ByteReader): RowReceipt {
  const { pending } = form;
  return {
    ...form,
    keyCommitment: reader.take(DIGEST_BYTES),
    salt: reader.take(DIGEST_BYTES),
    pending: pending && {
      ...pending,
      entryId,
      entry: reader.take(DIGEST_BYTES),
      mac: reader.take(DIGEST_BYTES),
    },
  };
}
