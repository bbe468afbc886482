/**
 * Keys in plaintext, as they travel to the main thread: those of one job from a suite worker, those of one batch from the key
 * worker. Their bytes are in one transferred buffer, their texts in lists, and what they have in common is there once
 * (`packed-rows.ts` says why).
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
  const keyIds: string[] = [];
  const hashProofs: string[] = [];
  let length = 0;
  for (const one of keys) length += secretBytes(one);
  const secrets = new ByteWriter(length);
  let form: Form | undefined;
  keys.forEach((one, i) => {
    if (!form || !hasForm(one, form)) {
      form = formOf(one);
      forms.push(form);
    }
    const at = COLUMNS * i;
    columns[at] = forms.length - 1;
    columns[at + 1] = one.latencyMs;
    columns[at + 2] = one.key.length;
    columns[at + 3] = one.opening?.length ?? 0;
    keyIds.push(one.keyId);
    hashProofs.push(one.hashProof);
    secrets.move(one);
  });
  return { forms, columns, keyIds, hashProofs, secrets: secrets.buffer };
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
    return {
      ...forms[columns[at]],
      keyId,
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
