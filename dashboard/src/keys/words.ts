/** Words for the states of keys and the reasons of revocations. */
import type { KeyInfo, RevocationReason } from '../api.ts';
import { age, date, dateTime } from '../format.ts';

type Status = KeyInfo['status'];

export const STATUSES: readonly Status[] = ['active', 'deactivated', 'compromised'];

/** Class and sign of a state. The word always stands beside them. */
export const STATUS_LOOKS: Readonly<Record<Status, { state: string; sign: string }>> = {
  active: { state: 'good', sign: '✓' },
  deactivated: { state: 'skipped', sign: '–' },
  compromised: { state: 'bad', sign: '!' },
};

export const REASON_WORDS: Readonly<Record<RevocationReason, string>> = {
  key_compromise: 'key compromise',
  superseded: 'superseded',
  cessation_of_use: 'cessation of use',
  unspecified: 'no reason given',
};

/** When each reason fits. */
export const REASON_TEXTS: Readonly<Record<RevocationReason, string>> = {
  key_compromise: 'Others have the key, or may have it.',
  superseded: 'Another key has taken its place.',
  cessation_of_use: 'Nothing uses the key any more.',
  unspecified: 'None of the others, or you prefer not to say.',
};

/** Returns when and why the key was revoked, or when it ends, as sentences; empty if nothing ends it. */
export function endSentences(info: KeyInfo): string {
  const { revoked_at: revoked, revocation_reason: reason } = info;
  if (revoked === null) return info.expires_at === null ? '' : `${capital(endText(info))}.`;
  return `Revoked ${dateTime(revoked)}. Reason: ${REASON_WORDS[reason ?? 'unspecified']}.`;
}

/** Returns what ended a key, or will end it: "revoked 1 Jan 2027, 12:00: superseded", "expires …"; empty if nothing. */
export function endText({ status, revoked_at, revocation_reason, expires_at }: KeyInfo): string {
  if (revoked_at !== null) {
    const reason = revocation_reason === null ? '' : `: ${REASON_WORDS[revocation_reason]}`;
    return `revoked ${dateTime(revoked_at)}${reason}`;
  }
  if (expires_at === null) return '';
  return `${status === 'active' ? 'expires' : 'expired'} ${dateTime(expires_at)}`;
}

/** Further away, a date says more than a number of days. */
const NEAR_MS = 90 * 86_400_000;

/** Returns the expiry of a key in a few characters: "never", "in 3 d", or a date. */
export function expiryText({ expires_at: expires }: KeyInfo, nowMs: number): string {
  if (expires === null) return 'never';
  const leftMs = Date.parse(expires) - nowMs;
  return leftMs > 0 && leftMs < NEAR_MS ? `in ${age(leftMs)}` : date(expires);
}

const MEANINGS: Readonly<Record<Status, string>> = {
  active: 'Validation calls this key valid.',
  deactivated:
    'Validation calls this key invalid. By SP 800-57, a deactivated key may still decrypt or verify what it protected before.',
  compromised:
    'Validation calls this key invalid. Others may have it: treat what it protected as exposed.',
};

/** Returns what the state of a key means, in a sentence or two. */
export function meaningOf({ status }: KeyInfo): string {
  return MEANINGS[status];
}

/** Returns the result of the statistical tests of a key. */
export function evidenceText({ evidence }: KeyInfo): string {
  if (evidence === null) return 'not tested';
  return `${evidence.tests_passed} of ${evidence.total_tests} tests`;
}

/** Returns the labels as texts: "env: prod". */
export function labelTexts({ labels }: KeyInfo): string[] {
  return Object.entries(labels).map(([name, value]) => `${name}: ${value}`);
}

/** Returns a word at the beginning of a line. */
export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
