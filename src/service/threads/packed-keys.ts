/**
 * Keys in plaintext of one job, as they travel from a suite worker to the main thread: their bytes in one transferred
 * buffer, their texts in lists, and what they have in common once (`packed-rows.ts` says why).
 */
import type { ReleasedKey } from '../../keys/order.ts';
import { ByteReader, ByteWriter, secretBytes } from './packed-bytes.ts';

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
  /** Each key, followed by its opening and the digest of its answer. */
  readonly secrets: ArrayBuffer;
}

/** Numbers of one key: index of its form, `latencyMs`, lengths of its key and opening in bytes (0 for none). */
const COLUMNS = 4;

/** Moves keys to one buffer, and wipes the given bytes. */
export function packKeys(keys: readonly ReleasedKey[]): PackedKeys {
  const forms: Form[] = [];
  const columns = new Float64Array(COLUMNS * keys.length);
  const secrets = new ByteWriter(keys.reduce((sum, one) => sum + secretBytes(one), 0));
  keys.forEach((one, i) => {
    const last = forms.at(-1);
    if (!last || !hasForm(one, last)) forms.push(formOf(one));
    const { key, opening, latencyMs } = one;
    columns.set([forms.length - 1, latencyMs, key.length, opening?.length ?? 0], COLUMNS * i);
    secrets.move(one);
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
  const reader = new ByteReader(secrets);
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
      ...reader.takeSecrets(columns[at + 2], columns[at + 3]),
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
