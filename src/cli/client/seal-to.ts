/** The recipient of `phm generate --seal-to` and `--recipient`, and the check of what the service sealed to it. */
import { CommandError } from '#platform/commands';
import { decodeBase64Url, parseSealedKey, parseSealHeader, type SealHeader } from '#sealing';
import { FormatError } from '#tlog';
import { type GenerateSealedRequest, sealTo } from '../../../sdk/src/index.ts';
import { type GenerateFlags, toRequest } from './generate-flags.ts';
import { readRecipient, thumbprintText } from './recipient-file.ts';

export interface SealTarget {
  /** `seal_to` of the request. */
  readonly field: ReturnType<typeof sealTo> | { readonly recipient: string };
  /** Base64 of the public key's SHA-256; null if only the service knows it. */
  readonly thumbprint: string | null;
}

/** Returns the recipient that the options name; null without one. Throws `CommandError` for an unusable file. */
export async function readTarget({
  sealTo: file,
  recipient,
}: GenerateFlags): Promise<SealTarget | null> {
  if (recipient !== undefined) return { field: { recipient }, thumbprint: null };
  if (file === undefined) return null;
  const owner = readRecipient(file);
  return { field: sealTo(owner), thumbprint: await thumbprintText(owner.publicKey) };
}

/** Returns the request for a key that is sealed to `target`. `added` names a further field of the answer. */
export function toSealedRequest(
  flags: GenerateFlags,
  { field }: SealTarget,
  added: readonly 'receipt'[] = [],
): GenerateSealedRequest {
  const { include, ...rest } = toRequest(flags, added);
  const fields = include?.filter((name) => name !== 'hash_proof');
  return { ...rest, ...(fields && { include: fields }), seal_to: field };
}

/**
 * Returns the header of the sealed key in an answer. Throws `CommandError` if it is malformed, of another key, or sealed to
 * another recipient. Only the receipt shows who sealed it.
 */
export function checkAnswer(
  answer: { readonly key_id: string; readonly sealed_key: object },
  { thumbprint }: SealTarget,
): SealHeader {
  const header = headerOf(answer.sealed_key);
  if (header.key_id !== answer.key_id) {
    throw new CommandError(
      `the sealed key of ${answer.key_id} has the header of another key: it was not written`,
      1,
    );
  }
  if (thumbprint === null || header.thumbprint === thumbprint) return header;
  throw new CommandError(
    `the key ${answer.key_id} is sealed to another recipient, ${header.thumbprint}: something between this command and ` +
      'the service has changed the public key. Do not use the key',
    1,
  );
}

function headerOf(sealedKey: object): SealHeader {
  try {
    return parseSealHeader(decodeBase64Url(parseSealedKey(sealedKey).header));
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new CommandError(`the service sent no valid sealed key: ${error.message}`, 1);
  }
}
