/** Opens a sealed key, and checks all that comes with it. Nothing is sent or fetched. */
import { hide } from '../hidden.ts';
import { assertObject } from '../options.ts';
import type { Bytes } from '../receipt/hash.ts';
import { parseReceiptText } from '../receipt/json.ts';
import { encodeBase64, FormatError } from '../receipt/tlog.ts';
import { UnreadableError } from '../receipt/unreadable.ts';
import type { ReceiptVerdict } from '../receipt/verdict.ts';
import { type ReceiptOptions, verifyReceipt } from '../receipt/verify.ts';
import { bindingProblem } from './binding.ts';
import { ownCopy } from './copies.ts';
import { type ExpectedRecipient, expectationProblem } from './expected.ts';
import {
  headerRecipients,
  OpenError,
  type OpenedKey,
  open,
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
  /**
   * All recipients that the key may have beside you, and must have: as objects, as the texts of their files, or as
   * thumbprints in base64. A key that is sealed to a further one, or not to one of them, is refused. Empty: to you alone.
   */
  readonly expectRecipients?: readonly ExpectedRecipient[] | undefined;
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
  /** Thumbprints in base64 of all to whom the key is sealed, in the order of the request. */
  readonly recipients: readonly string[];
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
 * Opens a sealed key with the recipient's key or the text of its file. `sealed` is the answer with `sealed_key` or
 * `sealed_keys`, of which your own is opened, or a sealed key alone, as an object or as JSON. Always checks recipient, form, length and commitment, and that the answer
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
  const own = readRecipientKey(recipientKey);
  const sealedKey = await ownCopy(answer, own, (parse) =>
    readable('This is not a sealed key', parse),
  );
  const opened = await openNamed(sealedKey, own);
  try {
    checkAnswer(answer, opened.header);
    await checkRecipients(opened.header, options);
    const verdict = receipt === undefined ? null : await checkReceipt(opened, receipt, options);
    const { key, opening, hashProof, header } = opened;
    const secrets = { key: key as Bytes, opening: opening as Bytes };
    const recipients = headerRecipients(header);
    return hide({ ...secrets, hashProof, header, recipients, verdict }, 'key', 'opening');
  } catch (error) {
    opened.key.fill(0);
    opened.opening.fill(0);
    throw error;
  }
}

/** An answer with a sealed key, or with the sealed copies of a key. */
interface SealedAnswer {
  readonly sealed_key?: unknown;
  readonly sealed_keys?: unknown;
  readonly key_id?: unknown;
  readonly security_level?: unknown;
  readonly receipt?: unknown;
}

function readAnswer(sealed: unknown): SealedAnswer {
  const value =
    typeof sealed === 'string'
      ? readable('This is not a sealed key', () => parseReceiptText(sealed))
      : sealed;
  if (typeof value !== 'object' || value === null) return { sealed_key: value };
  return 'sealed_key' in value || 'sealed_keys' in value ? value : { sealed_key: value };
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

async function checkRecipients(
  header: SealHeader,
  { expectRecipients }: OpenOptions,
): Promise<void> {
  if (expectRecipients === undefined) return;
  const problem = await expectationProblem(header, expectRecipients);
  if (problem !== undefined) throw new SealedKeyError(problem, null);
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
