/** The recipient of a sealed key, as a reader pastes it. A private key that was pasted by mistake is dropped. */
import type { GenerateSealedRequest } from '../api.ts';

export type SealTo = GenerateSealedRequest['seal_to'];

type RecipientReading =
  | { readonly sealTo: SealTo }
  /** What is wrong, as a sentence. `isSecret`: the text must not stay in the page. */
  | { readonly problem: string; readonly isSecret?: true };

/** Characters of public keys in base64url, by the suite. */
const SUITES: Readonly<Record<number, 'MLKEM768-X25519' | 'ML-KEM-1024'>> = {
  1622: 'MLKEM768-X25519',
  2091: 'ML-KEM-1024',
};

const PRIVATE: RecipientReading = {
  problem:
    'This holds a private key, so the page dropped it and sent nothing. Paste the public file, whose name ends in .recipient.',
  isSecret: true,
};

const UNKNOWN: RecipientReading = {
  problem:
    'This is no recipient. Paste the content of a .recipient file, or the name of a recipient that the operator registered.',
};

/** Reads the content of a `.recipient` file, a public key in base64url, or the name of a registered recipient. */
export function readRecipient(text: string): RecipientReading {
  const given = text.trim();
  if (given === '') return { problem: 'Paste the recipient of the key.' };
  if (/private_key|recipient-key|PRIVATE KEY/.test(given)) return PRIVATE;
  if (given.startsWith('{')) return fromJson(given);
  const suite = SUITES[given.length];
  if (suite !== undefined && /^[\w-]+$/.test(given)) {
    return { sealTo: { suite, public_key: given } };
  }
  if (/^(?:0x)?[\da-f]{32,}$/i.test(given) || /phmsk_/i.test(given)) {
    return { problem: 'This looks like a secret, so the page dropped it.', isSecret: true };
  }
  return /^[A-Za-z0-9][\w.-]{0,63}$/.test(given) ? { sealTo: { recipient: given } } : UNKNOWN;
}

function fromJson(text: string): RecipientReading {
  let file: { suite?: unknown; public_key?: unknown };
  try {
    file = JSON.parse(text);
  } catch {
    return UNKNOWN;
  }
  const suite = Object.values(SUITES).find((one) => one === file.suite);
  if (typeof file.public_key !== 'string') return UNKNOWN;
  return { sealTo: { ...(suite && { suite }), public_key: file.public_key } };
}
