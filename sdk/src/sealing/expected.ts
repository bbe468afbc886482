/** Compares the recipients of a sealed key with those that its opener demands. */
import { decodeBase64, encodeBase64, FormatError } from '../receipt/tlog.ts';
import { headerRecipients, type Recipient, type SealHeader, thumbprintOf } from './formats.ts';
import { parseRecipient } from './recipient.ts';

/** A recipient, the text of its file, or its thumbprint in base64. */
export type ExpectedRecipient = Recipient | string;

const THUMBPRINT_BYTES = 32;

/**
 * Returns why the recipients of a key are not those expected, in one sentence; undefined if they are. The opener itself need
 * not be among those expected. Rejects with `TypeError` for what is no recipient.
 */
export async function expectationProblem(
  header: SealHeader,
  expected: readonly ExpectedRecipient[],
): Promise<string | undefined> {
  if (!Array.isArray(expected)) throw new TypeError('expectRecipients must be a list');
  const demanded = new Set([header.thumbprint, ...(await Promise.all(expected.map(thumbprint)))]);
  const actual = headerRecipients(header);
  const further = actual.find((one) => !demanded.has(one));
  if (further !== undefined) {
    return `The key is sealed to a further recipient, whom you did not expect: its thumbprint is ${further}.`;
  }
  const missing = [...demanded].find((one) => !actual.includes(one));
  if (missing === undefined) return undefined;
  return `The key is not sealed to a recipient whom you expected: its thumbprint is ${missing}.`;
}

async function thumbprint(expected: ExpectedRecipient): Promise<string> {
  if (typeof expected === 'string' && isThumbprint(expected)) return expected;
  try {
    const { publicKey } = typeof expected === 'string' ? parseRecipient(expected) : expected;
    return encodeBase64(await thumbprintOf(publicKey));
  } catch (cause) {
    throw new TypeError(
      'expectRecipients must hold results of newRecipient or parseRecipient, texts of recipient files, or thumbprints in base64',
      { cause },
    );
  }
}

function isThumbprint(text: string): boolean {
  try {
    return decodeBase64(text).length === THUMBPRINT_BYTES;
  } catch (error) {
    if (error instanceof FormatError) return false;
    throw error;
  }
}
