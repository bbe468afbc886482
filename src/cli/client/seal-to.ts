/** The recipients of `phm generate --seal-to` and `--recipient`, and the check of what the service sealed to them. */
import { randomUUID } from 'node:crypto';
import { CommandError } from '#platform/commands';
import {
  headerRecipients,
  parseSealedKey,
  type SealedKey,
  type SealHeader,
  sealHeaderOf,
} from '#sealing';
import { FormatError, MAX_RECIPIENTS } from '#tlog';
import {
  type GenerateDeliveredRequest,
  type GenerateSealedKeysRequest,
  type GenerateSealedRequest,
  sealTo,
} from '../../../sdk/src/index.ts';
import { formatDuration } from '../parse-duration.ts';
import { type GenerateFlags, toRequest } from './generate-flags.ts';
import { readRecipient, thumbprintText } from './recipient-file.ts';

interface SealTarget {
  /** `seal_to` of the request. */
  readonly field: ReturnType<typeof sealTo> | { readonly recipient: string };
  /** Base64 of the public key's SHA-256; null if only the service knows it. */
  readonly thumbprint: string | null;
}

/** The recipients of a key, at least one: those of files, then registered ones. */
export type SealTargets = readonly [SealTarget, ...SealTarget[]];

/** Returns the recipients that the options name; null without one. Throws `CommandError` for an unusable file. */
export async function readTargets({
  sealTo: files = [],
  recipient: names = [],
}: GenerateFlags): Promise<SealTargets | null> {
  const owners = files.map(readRecipient);
  const [first, ...others] = [
    ...(await Promise.all(
      owners.map(async (owner) => ({
        field: sealTo(owner),
        thumbprint: await thumbprintText(owner.publicKey),
      })),
    )),
    ...names.map((recipient) => ({ field: { recipient }, thumbprint: null })),
  ];
  if (others.length < MAX_RECIPIENTS) return first ? [first, ...others] : null;
  throw new CommandError(`a key has at most ${MAX_RECIPIENTS} recipients`, 2);
}

/** Returns the request for a key that is sealed to `targets`. `added` names a further field of the answer. */
export function toSealedRequest(
  flags: GenerateFlags,
  [first, ...others]: SealTargets,
  added: readonly 'receipt'[] = [],
): GenerateSealedRequest | GenerateSealedKeysRequest {
  const { include, ...rest } = toRequest(flags, added);
  const fields = include?.filter((name) => name !== 'hash_proof');
  const order = { ...rest, ...(fields && { include: fields }) };
  if (others.length === 0) return { ...order, seal_to: first.field };
  return { ...order, seal_to: [first, ...others].map(({ field }) => field) };
}

/** Returns what the request for one key says of its delivery: nothing without one. */
export function deliveryOf({
  deliver,
  deliverFor,
  deliverContext: context,
}: GenerateFlags): Partial<Pick<GenerateDeliveredRequest, 'deliver'>> {
  if (deliver === undefined) return {};
  const id = deliver === true ? randomUUID() : deliver;
  const time = deliverFor === undefined ? {} : { for: formatDuration(deliverFor) };
  return { deliver: { id, ...(context !== undefined && { context }), ...time } };
}

/** An answer with the sealed key for one recipient, or those for several. */
interface SealedAnswer {
  readonly key_id: string;
  readonly sealed_key?: object;
  readonly sealed_keys?: readonly object[];
}

/**
 * Returns the thumbprints of the recipients of an answer, in order. Throws `CommandError` if a sealed key is malformed, of
 * another key, or sealed to another recipient. Only the receipt shows who sealed it.
 */
export function checkAnswer(answer: SealedAnswer, targets: SealTargets): readonly string[] {
  // A delivery has a list, also for one recipient.
  const copies = answer.sealed_keys ?? [answer.sealed_key];
  const headers = copies.map(headerOf);
  if (headers.length !== targets.length) {
    throw new CommandError(
      `the service sent ${headers.length} sealed keys for ${targets.length} recipients`,
      1,
    );
  }
  const recipients = headers.map(({ thumbprint }) => thumbprint);
  for (const [i, header] of headers.entries()) {
    checkHeader(answer.key_id, header, targets[i]?.thumbprint ?? null, recipients);
  }
  return recipients;
}

function checkHeader(
  keyId: string,
  header: SealHeader,
  thumbprint: string | null,
  recipients: readonly string[],
): void {
  if (header.key_id !== keyId) {
    throw new CommandError(
      `the sealed key of ${keyId} has the header of another key: it was not written`,
      1,
    );
  }
  const own = thumbprint ?? header.thumbprint;
  const others = headerRecipients(header).filter((one, i) => one !== recipients[i]);
  const [wrong] = header.thumbprint === own ? others : [header.thumbprint];
  if (wrong === undefined && headerRecipients(header).length === recipients.length) return;
  throw new CommandError(
    `the key ${keyId} is sealed to another recipient, ${wrong}: something between this command and ` +
      'the service has changed the public key. Do not use the key',
    1,
  );
}

function headerOf(sealedKey: object | undefined): SealHeader {
  try {
    const parsed: SealedKey = parseSealedKey(sealedKey);
    return sealHeaderOf(parsed);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new CommandError(`the service sent no valid sealed key: ${error.message}`, 1);
  }
}
