/**
 * Keys in plaintext of one job, as they travel from a suite worker to the main thread: their bytes in one transferred
 * buffer, their texts in lists, and what they have in common once (`packed-rows.ts` says why).
 */
import { wipeKey } from '../keys/key-receipt.ts';
import type { ReleasedKey } from '../keys/order.ts';

/** What consecutive keys have in common. */
type Form = Pick<
  ReleasedKey,
  'securityStrengthBits' | 'entropyBits' | 'entropyJobId' | 'evidence' | 'report'
>;

export interface PackedKeys {
  /** Each key with evidence has a form of its own. */
  readonly forms: readonly Form[];
  /** `COLUMNS` of each key. */
  readonly columns: Float64Array;
  readonly keyIds: readonly string[];
  readonly hashProofs: readonly string[];
  /** Each key, followed by its opening. */
  readonly secrets: ArrayBuffer;
}

/** Numbers of one key: index of its form, `latencyMs`, lengths of its key and opening in bytes (0 for none). */
const COLUMNS = 4;

/** Moves keys to one buffer, and wipes the given bytes. */
export function packKeys(keys: readonly ReleasedKey[]): PackedKeys {
  const forms: Form[] = [];
  const columns = new Float64Array(COLUMNS * keys.length);
  const secrets = Buffer.from(new ArrayBuffer(secretBytes(keys)));
  let used = 0;
  keys.forEach((one, i) => {
    const last = forms.at(-1);
    if (!last || !hasForm(one, last)) forms.push(formOf(one));
    const { key, opening } = one;
    columns.set([forms.length - 1, one.latencyMs, key.length, opening?.length ?? 0], COLUMNS * i);
    secrets.set(key, used);
    used += key.length;
    if (opening) secrets.set(opening, used);
    used += opening?.length ?? 0;
    wipeKey(one);
  });
  return {
    forms,
    columns,
    keyIds: keys.map(({ keyId }) => keyId),
    hashProofs: keys.map(({ hashProof }) => hashProof),
    secrets: secrets.buffer,
  };
}

/** Returns the keys, which are views of one buffer. The receiver MUST pass each to `wipeKey`. */
export function unpackKeys({
  forms,
  columns,
  keyIds,
  hashProofs,
  secrets,
}: PackedKeys): ReleasedKey[] {
  let used = 0;
  const take = (length: number) => {
    const view = Buffer.from(secrets, used, length);
    used += length;
    return view;
  };
  return keyIds.map((keyId, i) => {
    const at = COLUMNS * i;
    const form = forms[columns[at]];
    return {
      keyId,
      securityStrengthBits: form.securityStrengthBits,
      entropyBits: form.entropyBits,
      entropyJobId: form.entropyJobId,
      evidence: form.evidence,
      report: form.report,
      latencyMs: columns[at + 1],
      key: take(columns[at + 2]),
      opening: columns[at + 3] === 0 ? null : take(columns[at + 3]),
      hashProof: hashProofs[i],
    };
  });
}

function hasForm(one: ReleasedKey, form: Form): boolean {
  return (
    one.evidence === null &&
    form.evidence === null &&
    one.securityStrengthBits === form.securityStrengthBits &&
    one.entropyBits === form.entropyBits &&
    one.entropyJobId === form.entropyJobId
  );
}

function formOf({ securityStrengthBits, entropyBits, entropyJobId, evidence, report }: Form): Form {
  return { securityStrengthBits, entropyBits, entropyJobId, evidence, report };
}

function secretBytes(keys: readonly ReleasedKey[]): number {
  let sum = 0;
  for (const { key, opening } of keys) sum += key.length + (opening?.length ?? 0);
  return sum;
}
