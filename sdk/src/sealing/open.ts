/** Opens a sealed key, and checks all that comes with it. Nothing is sent or fetched. */
import { hide } from '../hidden.ts';
import { assertObject } from '../options.ts';
import type { Bytes } from '../receipt/hash.ts';
import { parseReceiptText } from '../receipt/json.ts';
import { encodeBase64, FormatError, type KeyStatement } from '../receipt/tlog.ts';
import { UnreadableError } from '../receipt/unreadable.ts';
import type { ReceiptVerdict } from '../receipt/verdict.ts';
import { type ReceiptOptions, verifyReceipt } from '../receipt/verify.ts';
import {
  OpenError,
  type OpenedKey,
  open,
  parseSealedKey,
  type RecipientKey,
  type SealedKey,
  type SealHeader,
} from './formats.ts';
import { withKems } from './kems.ts';
import { parseRecipientKey } from './recipient.ts';

export interface OpenOptions extends Pick<ReceiptOptions, 'policy' | 'nistReport' | 'now'> {
  /**
   * The receipt of the key, as `verifyReceipt` takes it. By default the one in the answer, if you give a policy. Without
   * a receipt nothing shows that the service sealed the key: anyone can seal to a public key.
   */
  readonly receipt?: unknown;
}

export interface OpenedSealedKey {
  /** 16, 32 or 48 bytes. Overwrite them after use. */
  readonly key: Uint8Array<ArrayBuffer>;
  /** Opens the commitment of the receipt, 32 bytes. As secret as the key. */
  readonly opening: Uint8Array<ArrayBuffer>;
  /** Proof for `validate`, which would send the key to the service. */
  readonly hashProof: string;
  /** What the sealed key states in the open. */
  readonly header: SealHeader;
  /** Valid if a receipt was verified; otherwise null. */
  readonly verdict: ReceiptVerdict | null;
}

/** A sealed key that does not open, or that does not fit its answer or receipt. The message is one sentence. */
export class SealedKeyError extends Error {
  override readonly name = 'SealedKeyError';
  /** Verdict on the receipt, if it was verified. */
  readonly verdict: ReceiptVerdict | null;

  constructor(message: string, verdict: ReceiptVerdict | null, options?: ErrorOptions) {
    super(message, options);
    this.verdict = verdict;
  }
}

/**
 * Opens a sealed key with the recipient's key or the text of its file. `sealed` is the answer with `sealed_key`, or
 * `sealed_key` alone, as an object or as JSON. Always checks recipient, form, length and commitment, and that the answer
 * names the same key. With a receipt it also verifies that, and that the receipt is of this key, recipient and ciphertext.
 * Rejects with `SealedKeyError` if anything does not hold, and with `TypeError` for arguments of a wrong type.
 */
export async function openSealedKey(
  sealed: unknown,
  recipientKey: RecipientKey | string,
  options: OpenOptions = {},
): Promise<OpenedSealedKey> {
  assertObject('the options', options, '{ receipt, policy }');
  const answer = readAnswer(sealed);
  const receipt = receiptOf(answer, options);
  const sealedKey = readable('This is not a sealed key', () => parseSealedKey(answer.sealed_key));
  const opened = await openNamed(sealedKey, readRecipientKey(recipientKey));
  try {
    checkAnswer(answer, opened.header);
    const verdict = receipt === undefined ? null : await checkReceipt(opened, receipt, options);
    const { key, opening, hashProof, header } = opened;
    const result = { key: key as Bytes, opening: opening as Bytes, hashProof, header, verdict };
    return hide(result, 'key', 'opening');
  } catch (error) {
    opened.key.fill(0);
    opened.opening.fill(0);
    throw error;
  }
}

/** An answer with a sealed key. Only `sealed_key` must be there. */
interface SealedAnswer {
  readonly sealed_key: unknown;
  readonly key_id?: unknown;
  readonly security_level?: unknown;
  readonly receipt?: unknown;
}

function readAnswer(sealed: unknown): SealedAnswer {
  const value =
    typeof sealed === 'string'
      ? readable('This is not a sealed key', () => parseReceiptText(sealed))
      : sealed;
  const isAnswer = typeof value === 'object' && value !== null && 'sealed_key' in value;
  return isAnswer ? value : { sealed_key: value };
}

/** Returns the receipt to verify, if there is one. */
function receiptOf(answer: SealedAnswer, { receipt, policy }: OpenOptions): unknown {
  if (receipt !== undefined) return receipt;
  if (policy === undefined) return undefined;
  if (answer.receipt === null) {
    throw new SealedKeyError(
      'The answer has no receipt yet, because the log did not have its entry in time: get it by the key_id, and pass it.',
      null,
    );
  }
  if (answer.receipt !== undefined) return answer.receipt;
  throw new TypeError(
    'a policy was given without a receipt: pass the receipt, or an answer that has one',
  );
}

function readRecipientKey(given: RecipientKey | string): RecipientKey {
  if (typeof given !== 'string') {
    assertObject('the recipient key', given, 'the result of newRecipient');
    if (given.publicKey instanceof Uint8Array && given.privateKey instanceof Uint8Array)
      return given;
    throw new TypeError(
      'the recipient key must have publicKey and privateKey, as the results of newRecipient and parseRecipientKey have',
    );
  }
  return readable('This is not the key of a recipient', () => parseRecipientKey(given));
}

function readable<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new SealedKeyError(`${what}: ${cause.message.replace(/\.$/, '')}.`, null, { cause });
  }
}

async function openNamed(sealedKey: SealedKey, recipientKey: RecipientKey): Promise<OpenedKey> {
  try {
    return await withKems((kems) => open({ sealedKey, recipientKey }, kems));
  } catch (cause) {
    if (!(cause instanceof OpenError)) throw cause;
    throw new SealedKeyError(cause.message, null, { cause });
  }
}

/** An intermediary could replace the members of the answer beside the sealed key. */
function checkAnswer(answer: SealedAnswer, header: SealHeader): void {
  for (const name of ['key_id', 'security_level'] as const) {
    const given = answer[name];
    if (given === undefined || given === header[name]) continue;
    throw new SealedKeyError(
      `The answer states the ${name} ${JSON.stringify(given)}, but the sealed key is of ${header[name]}.`,
      null,
    );
  }
}

/** Verifies a receipt, and that it is of this sealed key. */
async function checkReceipt(
  { key, opening, header, digest }: OpenedKey,
  receipt: unknown,
  { policy, nistReport, now }: OpenOptions,
): Promise<ReceiptVerdict> {
  const verdict = await verifyReceipt(receipt, { policy, key, opening, nistReport, now }).catch(
    (cause) => {
      if (!(cause instanceof UnreadableError)) throw cause;
      throw new SealedKeyError(cause.message, null, { cause });
    },
  );
  const problem = bindingProblem(verdict.statement, header, encodeBase64(digest));
  const first = problem ?? verdict.problems[0];
  if (first === undefined) return verdict;
  throw new SealedKeyError(first, verdict);
}

/** Members that statement and header share. */
const SHARED = ['key_id', 'service', 'time', 'security_level', 'key_commitment'] as const;

function bindingProblem(
  statement: KeyStatement,
  header: SealHeader,
  digest: string,
): string | undefined {
  const other = SHARED.find((name) => statement[name] !== header[name]);
  if (other !== undefined) {
    return `The receipt is of another key: its ${other} is ${statement[other]}, and the one of the sealed key is ${header[other]}.`;
  }
  if (statement.sealed_to === null) {
    return 'The receipt is of a key that was not sealed.';
  }
  if (statement.sealed_to !== header.thumbprint) {
    return `The receipt names another recipient: its sealed_to is ${statement.sealed_to}, and your thumbprint is ${header.thumbprint}.`;
  }
  if (statement.sealed_digest !== digest) {
    return 'The receipt is of another ciphertext: its sealed_digest is not the one of this sealed key.';
  }
  return undefined;
}
