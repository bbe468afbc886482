/** Validation of a key: format, exact tests, and proof or ledger record. */
import { hexToBytes } from '../bytes.ts';
import type { KeyState, QuotaExceeded, Retirement, Usage } from '../ledger/index.ts';
import type { Commitment, Keyring } from '../proof/index.ts';
import { entropyCheck } from './entropy-check.ts';
import { type KeyStatus, keyStatus } from './key-status.ts';

type CheckResult = 'passed' | 'failed' | 'skipped';

/**
 * `unconfirmed`: the digest is right, but others may have the secret, and no earlier record confirms the
 * key. The key may be forged, or its record may have been pruned.
 */
type ProofResult = CheckResult | 'unconfirmed';

/** Answer of the ledger about a key of a retired version, whose proofs confirm nothing by themselves. */
type RetiredSecretWord = 'record_found' | 'record_too_late' | 'no_record';

export interface ValidationVerdict {
  /** True if the key is random, recognised and active. */
  readonly valid: boolean;
  readonly keyFormat: 'valid' | 'invalid';
  readonly entropyCheck: CheckResult;
  readonly proofVerification: ProofResult;
  /** Null unless a retired version of the master secret affects the verdict. */
  readonly retiredSecret: RetiredSecretWord | null;
  /** Null unless the key is recognised: `proofVerification` is `passed`. */
  readonly keyStatus: KeyStatus | null;
}

/** Outcome of a request to validate a key. */
export type ValidateOutcome =
  | { readonly kind: 'validated'; readonly verdict: ValidationVerdict; readonly usage: Usage }
  | QuotaExceeded;

/** Verdicts as one word each. */
export const VALIDATION_WORDS = [
  'valid',
  'malformed',
  'not_random',
  'not_recognised',
  'unconfirmed',
  'deactivated',
  'compromised',
] as const;
type ValidationWord = (typeof VALIDATION_WORDS)[number];

/** Returns the word for a verdict: of several reasons against a key, the first. */
export function validationWord(verdict: ValidationVerdict): ValidationWord {
  if (verdict.valid) return 'valid';
  if (verdict.keyFormat === 'invalid') return 'malformed';
  if (verdict.entropyCheck === 'failed') return 'not_random';
  if (verdict.keyStatus !== null && verdict.keyStatus !== 'active') return verdict.keyStatus;
  return verdict.proofVerification === 'unconfirmed' ? 'unconfirmed' : 'not_recognised';
}

/** Results of the checks that need no ledger. */
export interface Examination {
  readonly entropyCheck: CheckResult;
  /** `verified`: the keyed digest is right. `absent`: no proof was given, so the ledger decides. */
  readonly proof: 'verified' | 'absent' | 'failed' | 'skipped';
  /** Commitments to look up: with a proof, the key's commitment under the proof's version, otherwise under all versions. */
  readonly commitments: readonly Commitment[];
}

/** The retired versions of the master secret. */
export type Retirements = ReadonlyMap<number, Retirement>;

const KEY_FORMAT = /^(?:[0-9a-f]{32}|[0-9a-f]{64}|[0-9a-f]{96})$/;

/** Returns the key's bytes, or undefined if the text is not a key of 128, 256 or 384 bits. */
export function parseKey(text: string): Buffer | undefined {
  return KEY_FORMAT.test(text) ? hexToBytes(text) : undefined;
}

/** Runs all checks that need no ledger. The key is not needed afterwards. */
export function examineKey(
  keyring: Keyring,
  key: Uint8Array | undefined,
  proof: string | undefined,
): Examination {
  if (!key) return { entropyCheck: 'skipped', proof: 'skipped', commitments: [] };
  const entropy = entropyCheck(key).passed ? 'passed' : 'failed';
  if (proof === undefined) {
    return { entropyCheck: entropy, proof: 'absent', commitments: keyring.commitAll(key) };
  }
  const version = keyring.verifyProof(key, proof);
  if (version === null) return { entropyCheck: entropy, proof: 'failed', commitments: [] };
  const commitments = [keyring.commit(key, version)];
  return { entropyCheck: entropy, proof: 'verified', commitments };
}

/**
 * Returns the commitments to look up in the ledger. A proof decides alone unless its version is retired: anyone
 * with the secret can compute a proof for any key, but cannot write its row.
 */
export function openQuestions(
  { proof, commitments }: Examination,
  retirements: Retirements,
): readonly Commitment[] {
  if (proof === 'absent') return commitments;
  return commitments.filter(({ version }) => retirements.has(version));
}

/** What the ledger knows about an examined key. */
interface LedgerWord {
  readonly retirements: Retirements;
  /** The creation time of the row of each question; null without a row. */
  readonly rowsMadeMs: readonly (number | null)[];
  /** States under the commitments of the examination; null without one. */
  readonly states: readonly (KeyState | null)[];
}

/** Returns the verdict at a time. */
export function concludeExamination(
  examination: Examination,
  questions: readonly Commitment[],
  { retirements, rowsMadeMs, states }: LedgerWord,
  nowMs: number,
): ValidationVerdict {
  const rows = questions.flatMap(({ version }, i) => {
    const madeMs = rowsMadeMs[i];
    return madeMs === null ? [] : [judgeRow(madeMs, retirements.get(version))];
  });
  const [proofVerification, retiredSecret] = weigh(examination.proof, questions.length, rows);
  const status = proofVerification === 'passed' ? statusOf(states, nowMs) : null;
  return {
    valid: examination.entropyCheck === 'passed' && status === 'active',
    keyFormat: examination.entropyCheck === 'skipped' ? 'invalid' : 'valid',
    entropyCheck: examination.entropyCheck,
    proofVerification,
    retiredSecret,
    keyStatus: status,
  };
}

/** Returns the status of a key, which has one state at most. */
function statusOf(states: readonly (KeyState | null)[], nowMs: number): KeyStatus {
  const state = states.find((one) => one !== null);
  return state ? keyStatus(state, nowMs) : 'active';
}

type RowWord = 'counts' | 'record_found' | 'record_too_late';

/**
 * Judges a row. After the time of a compromise, an attacker's server may have written it. `madeMs` is the time in the
 * key ID, which is set after the key is generated; the time of arrival would be too early.
 */
function judgeRow(madeMs: number, retirement: Retirement | undefined): RowWord {
  if (retirement === undefined) return 'counts';
  const { compromisedMs } = retirement;
  return compromisedMs === null || madeMs < compromisedMs ? 'record_found' : 'record_too_late';
}

function weigh(
  proof: Examination['proof'],
  questions: number,
  rows: readonly RowWord[],
): [ProofResult, RetiredSecretWord | null] {
  if (proof === 'failed' || proof === 'skipped') return [proof, null];
  if (proof === 'verified' && questions === 0) return ['passed', null];
  if (rows.includes('counts')) return ['passed', null];
  if (rows.includes('record_found')) return ['passed', 'record_found'];
  if (rows.includes('record_too_late')) return ['unconfirmed', 'record_too_late'];
  return proof === 'verified' ? ['unconfirmed', 'no_record'] : ['failed', null];
}
