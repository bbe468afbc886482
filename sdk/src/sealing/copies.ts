/** Finds the copy of a key that is sealed to a recipient, in an answer with several. */
import { encodeBase64, FormatError, MAX_RECIPIENTS } from '../receipt/tlog.ts';
import {
  parseSealedKey,
  type RecipientKey,
  type SealedKey,
  sealHeaderOf,
  thumbprintOf,
} from './formats.ts';

interface SealedParts {
  readonly sealed_key?: unknown;
  readonly sealed_keys?: unknown;
}

/**
 * Returns the sealed key of an answer, of several the one with the recipient's thumbprint, or the first if none has it.
 * `readable` runs a parser and words its error.
 */
export async function ownCopy(
  { sealed_key: sealedKey, sealed_keys: copies }: SealedParts,
  { publicKey }: RecipientKey,
  readable: <T>(parse: () => T) => T,
): Promise<SealedKey> {
  if (copies === undefined) return readable(() => parseSealedKey(sealedKey));
  const parsed = readable(() => parseCopies(copies));
  const own = encodeBase64(await thumbprintOf(publicKey));
  const found = parsed.find((one) => sealHeaderOf(one).thumbprint === own);
  return found ?? (parsed[0] as SealedKey);
}

function parseCopies(copies: unknown): SealedKey[] {
  if (Array.isArray(copies) && copies.length > 0 && copies.length <= MAX_RECIPIENTS) {
    return copies.map(parseSealedKey);
  }
  throw new FormatError(`sealed_keys: expected a list of 1 to ${MAX_RECIPIENTS}`);
}
