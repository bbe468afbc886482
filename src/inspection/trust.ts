/** Verifies a checkpoint by the keys of its log, and by the policy that its reader trusts. */
import {
  type Checkpoint,
  ED25519,
  encodeBase64,
  FormatError,
  ML_DSA_44_COSIGNATURE,
  meetsQuorum,
  type Policy,
  type VerifierKey,
} from '#tlog';
import { SetupError } from '../errors.ts';
import type { LogRecord } from '../ledger/index.ts';
import { openCheckpoint, openVerifierKey, verifySignature } from '../log/index.ts';

/** A checkpoint whose signatures were verified. */
export interface TrustedCheckpoint {
  readonly note: string;
  readonly checkpoint: Checkpoint;
  /** Names of the signature algorithms of the log's keys that signed. */
  readonly signedWith: readonly string[];
  /** Names of the policy's witnesses that cosigned. */
  readonly witnesses: readonly string[];
}

const ALGORITHMS: Readonly<Record<number, string>> = {
  [ED25519]: 'Ed25519',
  [ML_DSA_44_COSIGNATURE]: 'ML-DSA-44',
};

export function algorithmOf({ type }: VerifierKey): string {
  return ALGORITHMS[type] ?? `signature type ${type}`;
}

/** Returns the keys in the row of a log. */
export function verifierKeysOf({ verifierKeys }: LogRecord): VerifierKey[] {
  return verifierKeys
    .split('\n')
    .filter((line) => line !== '')
    .map(openVerifierKey);
}

/** Describes a checkpoint in a few words. */
export function describeCheckpoint({ size, root }: Pick<Checkpoint, 'size' | 'root'>): string {
  const entries = `${size.toLocaleString('en')} ${size === 1 ? 'entry' : 'entries'}`;
  return `${entries} with root ${encodeBase64(root)}`;
}

/** Returns the checkpoint of a note. `name` begins the message. Throws `SetupError` on any defect. */
export function requireTrusted(name: string, note: string, policy: Policy): TrustedCheckpoint {
  try {
    return openTrusted(note, policy);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new SetupError(`${name}: ${error.message}`);
  }
}

/** Returns the checkpoint of a note. Throws `FormatError` on any defect. */
function openTrusted(note: string, policy: Policy): TrustedCheckpoint {
  const keys = policy.logs.map(({ key }) => key);
  const { checkpoint, note: parsed, signedBy } = openCheckpoint(note, keys);
  const witnesses = policy.witnesses
    .filter(({ key }) =>
      parsed.signatures.some(
        (signature) =>
          signature.name === key.name &&
          signature.keyId === key.keyId &&
          verifySignature(key, parsed, signature).valid,
      ),
    )
    .map(({ name }) => name);
  if (!meetsQuorum(policy, new Set(witnesses))) {
    const found = witnesses.length === 0 ? 'none' : witnesses.join(', ');
    throw new FormatError(
      `the policy's quorum ${policy.quorum} of witnesses is not met: cosigned by ${found}`,
    );
  }
  return { note, checkpoint, signedWith: signedBy.map(algorithmOf), witnesses };
}
