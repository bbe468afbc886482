/** Recipients of sealed keys: their key pairs, and the files that hold them. */
import { FormatError, literal, object } from '../../tlog/src/index.ts';
import { base64Url, decodeBase64Url, encodeBase64Url } from './base64url.ts';
import { cipherSuite, type Kems, PLATFORM_KEMS } from './hpke.ts';
import { publicKeyProblem } from './public-key.ts';
import { DEFAULT_SUITE, type SealSuiteName, suiteName, suiteOf } from './suites.ts';

export interface Recipient {
  readonly suite: SealSuiteName;
  /** The KEM's raw serialisation. */
  readonly publicKey: Uint8Array;
}

/** The owner MUST keep `privateKey` secret. */
export interface RecipientKey extends Recipient {
  /** The KEM's seed, from which its key pair is derived. */
  readonly privateKey: Uint8Array;
}

/** Generates a key pair. Rejects with an error that `isUnsupported` knows if the platform lacks the suite. */
export async function newRecipient(
  suite: SealSuiteName = DEFAULT_SUITE,
  kems: Kems = PLATFORM_KEMS,
): Promise<RecipientKey> {
  const hpke = cipherSuite(suite, kems);
  const pair = await hpke.GenerateKeyPair(true);
  return {
    suite,
    publicKey: await hpke.SerializePublicKey(pair.publicKey),
    privateKey: await hpke.SerializePrivateKey(pair.privateKey),
  };
}

const RECIPIENT = 'phm-recipient/v1';
const RECIPIENT_KEY = 'phm-recipient-key/v1';

/** Longest public and private key in bytes. `checked` compares with the suite. */
const MAX_KEY_BYTES = 2048;

interface RecipientFile {
  readonly type: typeof RECIPIENT;
  readonly suite: SealSuiteName;
  readonly public_key: string;
}

interface RecipientKeyFile extends Omit<RecipientFile, 'type'> {
  readonly type: typeof RECIPIENT_KEY;
  readonly private_key: string;
}

const recipientOf = object<RecipientFile>({
  type: literal(RECIPIENT),
  suite: suiteName,
  public_key: base64Url(1, MAX_KEY_BYTES),
});

const recipientKeyOf = object<RecipientKeyFile>({
  type: literal(RECIPIENT_KEY),
  suite: suiteName,
  public_key: base64Url(1, MAX_KEY_BYTES),
  private_key: base64Url(1, MAX_KEY_BYTES),
});

/** Returns the text of a recipient's public file. */
export function formatRecipient({ suite, publicKey }: Recipient): string {
  return fileOf({ type: RECIPIENT, suite, public_key: encodeBase64Url(publicKey) });
}

/** Returns the text of a recipient's secret file, which also has the public key. */
export function formatRecipientKey({ suite, publicKey, privateKey }: RecipientKey): string {
  return fileOf({
    type: RECIPIENT_KEY,
    suite,
    public_key: encodeBase64Url(publicKey),
    private_key: encodeBase64Url(privateKey),
  });
}

function fileOf(members: RecipientFile | RecipientKeyFile): string {
  return `${JSON.stringify(members)}\n`;
}

/** Reads the text of a public file. Throws `FormatError`, also for a public key that `publicKeyProblem` refuses. */
export function parseRecipient(text: string): Recipient {
  const file = recipientOf('the recipient', parseJson('the recipient', text));
  return checked(file);
}

/** Reads the text of a secret file. Throws `FormatError` as `parseRecipient` does, and never quotes the private key. */
export function parseRecipientKey(text: string): RecipientKey {
  const file = recipientKeyOf('the recipient key', parseJson('the recipient key', text));
  const recipient = checked(file);
  const privateKey = decodeBase64Url(file.private_key);
  const { privateKeyBytes } = suiteOf(file.suite);
  if (privateKey.length !== privateKeyBytes) {
    throw new FormatError(
      `private_key: expected ${privateKeyBytes} bytes for ${file.suite}, got ${privateKey.length}`,
    );
  }
  return { ...recipient, privateKey };
}

function checked(file: Pick<RecipientFile, 'suite' | 'public_key'>): Recipient {
  const publicKey = decodeBase64Url(file.public_key);
  const problem = publicKeyProblem(file.suite, publicKey);
  if (problem === null) return { suite: file.suite, publicKey };
  throw new FormatError(`public_key: ${problem}`);
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // JSON.parse quotes the text, which may be a private key.
    throw new FormatError(`${name}: expected a JSON object, got other text`);
  }
}
