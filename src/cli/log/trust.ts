/** Verifies a checkpoint by the policy that its reader trusts. */
import {
  type Checkpoint,
  ED25519,
  encodeBase64,
  FormatError,
  ML_DSA_44_COSIGNATURE,
  meetsQuorum,
  type Policy,
  parsePolicy,
  type VerifierKey,
} from '#tlog';
import { openCheckpoint, openPolicy, verifySignature } from '../../log/index.ts';
import { counted } from '../admin/row-counts.ts';
import { CommandError } from '../command-error.ts';
import { readText } from '../read-bounded.ts';

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

/** Describes a checkpoint in a few words. */
export function describeCheckpoint({ size, root }: Pick<Checkpoint, 'size' | 'root'>): string {
  return `${counted(size, 'entry', 'entries')} with root ${encodeBase64(root)}`;
}

/** Returns the checkpoint of a note. `name` begins the message. Throws `CommandError` on any defect. */
export function requireTrusted(name: string, note: string, policy: Policy): TrustedCheckpoint {
  try {
    return openTrusted(note, policy);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new CommandError(`${name}: ${error.message}`, 1);
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

/** Reads a policy. `name` says in messages where it is from. Throws `CommandError`: what is no policy decides on nothing. */
export function parseTrustedPolicy(name: string, text: string): Policy {
  return parseAs(name, () => openPolicy(text));
}

/** Throws `CommandError` unless the text is a policy, of any logs. `name` says in messages where it is from. */
export function requirePolicy(name: string, text: string): void {
  parseAs(name, () => parsePolicy(text));
}

function parseAs(name: string, parse: () => Policy): Policy {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new CommandError(`${name} is not a policy (c2sp.org/tlog-policy): ${error.message}`, 2);
  }
}

/** Most bytes of a policy file. */
const MAX_POLICY_BYTES = 2 ** 20;

export function readPolicyFile(path: string): string {
  return readText(path, 'the policy', MAX_POLICY_BYTES);
}
