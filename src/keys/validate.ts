/** Validation of a key: format, exact entropy tests, and proof or ledger record. */
import { hexToBytes } from '../bytes.ts';
import type { CommitmentQuery, Usage } from '../ledger/index.ts';
import type { Keyring } from '../proof/index.ts';
import { entropyCheck } from './entropy-check.ts';

export type CheckResult = 'passed' | 'failed' | 'skipped';

export interface ValidationVerdict {
  readonly valid: boolean;
  readonly keyFormat: 'valid' | 'invalid';
  readonly entropyCheck: CheckResult;
  readonly proofVerification: CheckResult;
}

/** What became of a request to validate. */
export type ValidateOutcome =
  | { readonly kind: 'validated'; readonly verdict: ValidationVerdict; readonly usage: Usage }
  | { readonly kind: 'quota_exceeded'; readonly usage: Usage };

/** A verdict as one word. */
export const VALIDATION_WORDS = ['valid', 'malformed', 'not_random', 'not_recognised'] as const;
export type ValidationWord = (typeof VALIDATION_WORDS)[number];

/** The word for a verdict: of several reasons against a key the first that was found. */
export function validationWord(verdict: ValidationVerdict): ValidationWord {
  if (verdict.valid) return 'valid';
  if (verdict.keyFormat === 'invalid') return 'malformed';
  return verdict.entropyCheck === 'failed' ? 'not_random' : 'not_recognised';
}

/** What is known before the ledger is asked. `queries` is empty when the ledger has no say. */
export interface Examination {
  readonly entropyCheck: CheckResult;
  readonly proofVerification: CheckResult | 'ledger';
  readonly queries: readonly CommitmentQuery[];
}

const KEY_FORMAT = /^(?:[0-9a-f]{32}|[0-9a-f]{64}|[0-9a-f]{96})$/;

/** The key's bytes, or undefined when the text is not a key of 128, 256 or 384 bits. */
export function parseKey(text: string): Buffer | undefined {
  return KEY_FORMAT.test(text) ? hexToBytes(text) : undefined;
}

/**
 * Checks what can be checked without the ledger. With a proof the keyed digest decides alone;
 * without one the ledger must hold the key's commitment under any retained version of the secret:
 * the service vouches only for keys it generated.
 */
export function examineKey(
  keyring: Keyring,
  key: Uint8Array | undefined,
  proof: string | undefined,
): Examination {
  if (!key) return { entropyCheck: 'skipped', proofVerification: 'skipped', queries: [] };
  const entropy = entropyCheck(key).passed ? 'passed' : 'failed';
  if (proof !== undefined) {
    const proven = keyring.verifyProof(key, proof) ? 'passed' : 'failed';
    return { entropyCheck: entropy, proofVerification: proven, queries: [] };
  }
  const queries = keyring.commitAll(key);
  return { entropyCheck: entropy, proofVerification: 'ledger', queries };
}

/** The verdict, once the ledger has said which of the queried commitments it holds. */
export function concludeExamination(
  examination: Examination,
  found: readonly boolean[],
): ValidationVerdict {
  const proofVerification =
    examination.proofVerification === 'ledger'
      ? found.includes(true)
        ? 'passed'
        : 'failed'
      : examination.proofVerification;
  return {
    valid: examination.entropyCheck === 'passed' && proofVerification === 'passed',
    keyFormat: examination.entropyCheck === 'skipped' ? 'invalid' : 'valid',
    entropyCheck: examination.entropyCheck,
    proofVerification,
  };
}
