/** Says in one sentence why a key is not valid. It never repeats a part of what was sent: it may be a key. */
import type { ValidationVerdict } from '../../keys/index.ts';

const LENGTHS = [32, 64, 96];
const HEX = /^[0-9a-f]+$/i;

/** Returns the reason; undefined for a valid key. `text` is what was sent as the key. */
export function validationReason(verdict: ValidationVerdict, text: string): string | undefined {
  if (verdict.valid) return undefined;
  if (verdict.keyFormat === 'invalid') return formatReason(text);
  if (verdict.entropyCheck === 'failed') {
    return 'The key is not random: it fails an exact test that every generated key passes.';
  }
  if (verdict.keyStatus === 'deactivated') {
    return 'This service generated the key, but it has expired or was revoked.';
  }
  if (verdict.keyStatus === 'compromised') {
    return 'This service generated the key, but its account has revoked it, because others may have it.';
  }
  return verdict.proofVerification === 'unconfirmed'
    ? 'The service cannot confirm that it generated the key: "retired_secret" says why.'
    : 'The service does not recognise the key, or the proof belongs to another key.';
}

/** Says what keeps a text from being a key, and how to send it if only its form is wrong. */
function formatReason(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return 'The key is empty.';
  if (/^phm_\d+$/.test(trimmed)) {
    return 'This is a key_id, not a key. GET /api/v2/keys/{key_id} shows its record.';
  }
  if (isKey(trimmed.toLowerCase().replace(/^0x/, ''))) {
    const faults = [
      ...(trimmed === text ? [] : ['without white space around it']),
      ...(/^0x/i.test(trimmed) ? ['without "0x"'] : []),
      ...(/[A-F]/.test(trimmed) ? ['in lower case'] : []),
    ];
    return `The key is not in the form in which it was generated: send it ${faults.join(' and ')}.`;
  }
  return HEX.test(trimmed)
    ? `A key has 32, 64 or 96 hexadecimal digits; this has ${trimmed.length}.`
    : 'A key has 32, 64 or 96 hexadecimal digits; this has other characters.';
}

function isKey(text: string): boolean {
  return LENGTHS.includes(text.length) && HEX.test(text);
}
