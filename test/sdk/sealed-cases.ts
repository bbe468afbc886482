/**
 * Sealed keys that are right or wrong in one way. The cases are JSON: the clients of both languages open them, with equal
 * outcomes (test/slow/clients/python-client.test.ts).
 */
import { createHash } from 'node:crypto';
import { AEAD_AES_256_GCM, CipherSuite, KDF_HKDF_SHA256, KEM_MLKEM768_X25519 } from 'hpke';
import { canonicalJson, encodeBase64 } from '#tlog';
import {
  formatRecipient,
  formatRecipientKey,
  newRecipient,
  openSealedKey,
  type RecipientKey,
  SEAL_SUITES,
  type SealedKey,
  SealedKeyError,
  thumbprintOf,
} from '../../sdk/src/index.ts';
import { LOG_ED25519, NOW, POLICY, policyOf } from './receipts.ts';
import {
  HASH_PROOF,
  type SealedAnswer,
  type SeveralAnswer,
  sealedAnswer,
  severalAnswer,
} from './sealed-keys.ts';

interface StatedSeal {
  readonly to: string;
  readonly digest: string;
}

interface SealedCase {
  readonly name: string;
  readonly sealed: unknown;
  /** Text of the file. */
  readonly recipientKey: string;
  /** Thumbprints, or texts of files. */
  readonly expectRecipients?: readonly string[];
  readonly receipt?: unknown;
  readonly policy?: string;
}

/** What a client makes of a case: the content or the problem, and the verdict on the receipt. */
type Outcome = { readonly valid: boolean | null } & (
  | {
      readonly key: string;
      readonly opening: string;
      readonly hashProof: string;
      readonly keyId: string;
      readonly recipients: readonly string[];
    }
  | { readonly problem: string }
);

/** Opens a case with the TypeScript client. */
export async function outcomeOf({
  sealed,
  recipientKey,
  expectRecipients,
  receipt,
  policy,
}: SealedCase): Promise<Outcome> {
  try {
    const options = { receipt, policy, expectRecipients, now: NOW };
    const opened = await openSealedKey(sealed, recipientKey, options);
    return {
      key: Buffer.from(opened.key).toString('hex'),
      opening: encodeBase64(opened.opening),
      hashProof: opened.hashProof,
      keyId: opened.header.key_id,
      recipients: opened.recipients,
      valid: opened.verdict?.valid ?? null,
    };
  } catch (error) {
    if (!(error instanceof SealedKeyError)) throw error;
    return { problem: error.message, valid: error.verdict?.valid ?? null };
  }
}

const base64Url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64url');

const headerOf = ({ header }: SealedKey): Record<string, unknown> =>
  JSON.parse(Buffer.from(header, 'base64url').toString());

/** Returns the sealed key with one bit of a member changed; `at` is negative from the end. */
function flipped(sealedKey: SealedKey, member: 'enc' | 'ciphertext', at: number): SealedKey {
  const bytes = Buffer.from(sealedKey[member], 'base64url');
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] as number) ^ 1;
  return { ...sealedKey, [member]: base64Url(bytes) };
}

/** Seals any plaintext under a header, as only a faulty or malicious service would. */
async function sealText(
  recipient: RecipientKey,
  plaintext: string,
  header: Record<string, unknown>,
): Promise<SealedKey> {
  const suite = new CipherSuite(KEM_MLKEM768_X25519, KDF_HKDF_SHA256, AEAD_AES_256_GCM);
  const aad = new Uint8Array(Buffer.from(canonicalJson(header as never)));
  const headerHash = createHash('sha256').update(aad).digest();
  const { encapsulatedSecret, ciphertext } = await suite.Seal(
    await suite.DeserializePublicKey(recipient.publicKey),
    new Uint8Array(Buffer.from(plaintext)),
    { info: new Uint8Array(Buffer.concat([Buffer.from('phm/seal/v1\0'), headerHash])), aad },
  );
  return {
    suite: 'MLKEM768-X25519',
    kem_id: 25722,
    kdf_id: 1,
    aead_id: 2,
    enc: base64Url(encapsulatedSecret),
    ciphertext: base64Url(ciphertext),
    header: base64Url(aad),
  };
}

/** Returns all cases. Each call generates other keys. */
export async function sealedCases(): Promise<readonly SealedCase[]> {
  const recipient = await newRecipient();
  const { answer, key, opening } = await sealedAnswer(recipient);
  const recipientKey = formatRecipientKey(recipient);
  const own = [
    ...forms(answer),
    ...receipts(answer),
    ...alteredKeys(answer),
    ...misshapen(answer.sealed_key),
    ...(await alteredStatements(recipient)),
    ...(await plaintexts(recipient, answer, { key, opening })),
  ].map((one) => ({ recipientKey, ...one }));
  return [
    ...(await right()),
    ...own,
    ...(await otherRecipients(recipient, answer)),
    ...(await several()),
  ];
}

/** A case for the recipient of all. */
type Own = Omit<SealedCase, 'recipientKey'>;

async function right(): Promise<SealedCase[]> {
  const cases = SEAL_SUITES.flatMap(({ name: suite }) =>
    [128, 256, 384].map(async (bits) => {
      const recipient = await newRecipient(suite);
      const { answer } = await sealedAnswer(recipient, { bits });
      const name = `${bits} bits, ${suite}`;
      return { name, sealed: answer, recipientKey: formatRecipientKey(recipient), policy: POLICY };
    }),
  );
  return Promise.all(cases);
}

function forms(answer: SealedAnswer): Own[] {
  const { sealed_key: sealedKey } = answer;
  const twice = JSON.stringify(sealedKey).replace('{', '{"enc":"",');
  return [
    { name: 'an answer without a policy', sealed: answer },
    { name: 'the sealed key alone', sealed: sealedKey },
    { name: 'the text of an answer', sealed: JSON.stringify(answer, null, 2), policy: POLICY },
    { name: 'the text of a sealed key', sealed: JSON.stringify(sealedKey) },
    { name: 'a text with a byte order mark', sealed: `\ufeff${JSON.stringify(sealedKey)}` },
    { name: 'a text that was cut', sealed: JSON.stringify(sealedKey).slice(0, -1) },
    { name: 'a member twice', sealed: twice },
    { name: 'null', sealed: null },
    { name: 'a list', sealed: [sealedKey] },
    { name: 'an answer without a sealed key', sealed: { key: '00' } },
    { name: 'an answer of another key', sealed: { ...answer, key_id: 'phm_1' } },
    { name: 'an answer of another level', sealed: { ...answer, security_level: 128 } },
  ];
}

function receipts(answer: SealedAnswer): Own[] {
  const { receipt, sealed_key: sealed } = answer;
  return [
    { name: 'a receipt beside the sealed key', sealed, receipt, policy: POLICY },
    { name: 'its text', sealed, receipt: JSON.stringify(receipt), policy: POLICY },
    {
      name: 'an answer whose receipt is not there yet',
      sealed: { ...answer, receipt: null },
      policy: POLICY,
    },
    { name: 'a receipt without a policy', sealed, receipt },
    { name: 'a receipt that was cut', sealed, receipt: '{', policy: POLICY },
    { name: 'a policy with the Ed25519 key', sealed: answer, policy: policyOf([LOG_ED25519]) },
    { name: 'a policy that is none', sealed: answer, policy: 'log' },
    {
      name: 'an altered receipt',
      sealed,
      receipt: { ...receipt, statement: { ...receipt.statement, modulation: 'none' } },
      policy: POLICY,
    },
  ];
}

/** Receipts that are right in themselves, and of another sealed key. */
function alteredStatements(recipient: RecipientKey): Promise<Own[]> {
  const zeros = Buffer.alloc(32).toString('base64');
  const changes = [
    { sealed_to: null, sealed_digest: null },
    { sealed_to: zeros },
    { sealed_digest: zeros },
    { sealed_digest: null },
    { time: '2027-01-15T07:59:59.124+00:00' },
    { key_id: 'phm_1' },
    { security_level: 128 },
    { key_commitment: zeros },
    { service: 'other.example/log' },
  ];
  const cases = changes.map(async (statement) => {
    const { answer } = await sealedAnswer(recipient, { statement });
    const name = `a receipt with ${JSON.stringify(statement)}`;
    return { name, sealed: answer, policy: POLICY };
  });
  return Promise.all(cases);
}

function alteredKeys({ sealed_key: sealedKey }: SealedAnswer): Own[] {
  const header = canonicalJson({ ...headerOf(sealedKey), key_id: 'phm_1' } as never);
  return [
    ...(['enc', 'ciphertext'] as const).flatMap((member) =>
      [0, -1].map((at) => ({
        name: `byte ${at} of ${member}`,
        sealed: flipped(sealedKey, member, at),
      })),
    ),
    { name: 'another key ID in the header', sealed: { ...sealedKey, header: base64Url(header) } },
    {
      name: 'an encapsulated point of small order',
      sealed: { ...sealedKey, enc: base64Url(Buffer.alloc(1120)) },
    },
  ];
}

function misshapen(sealedKey: SealedKey): Own[] {
  const { enc: _, ...withoutEnc } = sealedKey;
  const header = headerOf(sealedKey);
  const withText = (text: string) => ({ ...sealedKey, header: base64Url(text) });
  const headerWith = (change: object) => withText(canonicalJson({ ...header, ...change } as never));
  const { time: __, ...withoutTime } = header;
  return Object.entries({
    'without enc': withoutEnc,
    'an unknown member': { ...sealedKey, extra: 1 },
    'an unknown suite': { ...sealedKey, suite: 'X25519' },
    'the name of another suite': { ...sealedKey, suite: 'ML-KEM-1024' },
    'another KDF': { ...sealedKey, kdf_id: 3 },
    'the numbers of another suite': { ...sealedKey, kem_id: 66, kdf_id: 3 },
    'a number as text': { ...sealedKey, kem_id: '25722' },
    'a number that is too large': { ...sealedKey, kem_id: 65536 },
    'a fraction': { ...sealedKey, aead_id: 2.5 },
    'a boolean': { ...sealedKey, aead_id: true },
    'padding in enc': { ...sealedKey, enc: `${sealedKey.enc}=` },
    'a number for enc': { ...sealedKey, enc: 7 },
    'enc that is not canonical': { ...sealedKey, enc: `${sealedKey.enc.slice(0, -1)}_` },
    'a short ciphertext': { ...sealedKey, ciphertext: 'AA' },
    'a long ciphertext': { ...sealedKey, ciphertext: 'A'.repeat(100_000) },
    'null for the ciphertext': { ...sealedKey, ciphertext: null },
    'base64 for the ciphertext': { ...sealedKey, ciphertext: `+${sealedKey.ciphertext.slice(1)}` },
    'a long header': { ...sealedKey, header: 'A'.repeat(100_000) },
    'a header that is not JSON': withText('{a'),
    'a header that is a list': withText('[]'),
    'a header with white space': withText(JSON.stringify(header, null, 1)),
    'a header with a byte order mark': withText(`\ufeff${canonicalJson(header as never)}`),
    'a header that is not UTF-8': {
      ...sealedKey,
      header: base64Url(Buffer.from(canonicalJson({ ...header, service: 'é' } as never), 'latin1')),
    },
    'a header with a member twice': withText(
      canonicalJson(header as never).replace('{', '{"aead_id":2,'),
    ),
    'a header of another suite': headerWith({ kem_id: 66, kdf_id: 3 }),
    'a header of an unknown suite': headerWith({ kem_id: 32 }),
    'a header of another version': headerWith({ type: 'phm-sealed-key/v3' }),
    'a header of the second type without its members': headerWith({ type: 'phm-sealed-key/v2' }),
    'a header without time': withText(canonicalJson(withoutTime as never)),
    'a header with another level': headerWith({ security_level: 512 }),
    'a header with a short thumbprint': headerWith({ thumbprint: '' }),
    'a header with a wrong origin': headerWith({ service: 'a b' }),
    'a header with a wrong key ID': headerWith({ key_id: 'phm_0' }),
    'a header with an unknown member': headerWith({ more: null }),
  }).map(([name, sealed]) => ({ name, sealed }));
}

async function plaintexts(
  recipient: RecipientKey,
  { sealed_key: sealedKey }: SealedAnswer,
  secrets: { readonly key: Buffer; readonly opening: Buffer },
): Promise<Own[]> {
  const key = secrets.key.toString('hex');
  const opening = secrets.opening.toString('base64');
  const good = canonicalJson({ hash_proof: HASH_PROOF, key, opening });
  const texts = {
    'the documented form': good,
    'an empty object': '{}',
    'a cut text': good.slice(0, -1),
    'a space at the end': `${good} `,
    'a line end': `${good}\n`,
    'a key in capitals': good.replace(key, 'AB'.repeat(32)),
    'a short key': good.replace(key, key.slice(2)),
    'a long key': good.replace(key, `${key}00`),
    'a wrong digit': good.replace(key, `g${key.slice(1)}`),
    'another key': good.replace(key, '00'.repeat(32)),
    'another opening': good.replace(opening, Buffer.alloc(32).toString('base64')),
    'an opening without padding': good.replace(opening, opening.replace(/=$/, '')),
    'an opening that is not canonical': good.replace(opening, `${'A'.repeat(42)}B=`),
    'an opening with a wrong character': good.replace(opening, `!${opening.slice(1)}`),
    'an empty proof': good.replace(HASH_PROOF, ''),
    'an escape in the proof': good.replace(HASH_PROOF, 'a\\u0020'),
    'a proof that is too long': good.replace(HASH_PROOF, 'a'.repeat(513)),
    'a proof with a control character': good.replace(HASH_PROOF, 'a\tb'),
    'another member': good.replace('"opening"', '"Opening"'),
    'white space': good.replaceAll('":"', '": "'),
    'an encoding that is not ASCII': good.replace(HASH_PROOF, 'é'),
    'a byte order mark before the proof': good.replace(HASH_PROOF, `\ufeff${HASH_PROOF}`),
  };
  const header = headerOf(sealedKey);
  return Promise.all(
    Object.entries(texts).map(async ([what, text]) => ({
      name: `a plaintext with ${what}`,
      sealed: await sealText(recipient, text, header),
    })),
  );
}

async function otherRecipients(
  recipient: RecipientKey,
  { sealed_key: sealed }: SealedAnswer,
): Promise<SealedCase[]> {
  const other = await newRecipient();
  const file = (key: RecipientKey, change: object = {}) =>
    JSON.stringify({ ...JSON.parse(formatRecipientKey(key)), ...change });
  const bytes = (length: number) => base64Url(Buffer.alloc(length, 7));
  const withPoint = (point: string) =>
    base64Url(Buffer.concat([recipient.publicKey.subarray(0, 1184), Buffer.from(point, 'hex')]));
  return Object.entries({
    'another recipient': file(other),
    'a recipient of the other suite': file(await newRecipient('ML-KEM-1024')),
    'the private key of another recipient': file({ ...recipient, privateKey: other.privateKey }),
    'a file with white space': JSON.stringify(JSON.parse(file(recipient)), null, 2),
    'a file that is not JSON': '{',
    'a file that is a list': '[]',
    'a public file': file(recipient, { type: 'phm-recipient/v1' }),
    'a file with another member': file(recipient, { more: 1 }),
    'a short private key': file(recipient, { private_key: bytes(31) }),
    'a private key that is too long': file(recipient, { private_key: bytes(4096) }),
    'a private key in base64': file(recipient, { private_key: '+'.repeat(43) }),
    'a short public key': file(recipient, { public_key: bytes(1215) }),
    'a public key of zeros': file(recipient, { public_key: base64Url(Buffer.alloc(1216)) }),
    'a public key that is not reduced': file(recipient, {
      public_key: base64Url(Buffer.alloc(1216, 255)),
    }),
    'a point of order 1': file(recipient, { public_key: withPoint(`01${'00'.repeat(31)}`) }),
    'a point that is not reduced': file(recipient, {
      public_key: withPoint(`ee${'ff'.repeat(31)}`),
    }),
    'a point of order 8': file(recipient, {
      public_key: withPoint('e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b880'),
    }),
  }).map(([name, recipientKey]) => ({ name, sealed, recipientKey }));
}

const DELIVERY = {
  id: '6f1c2f0e-7a55-4c7e-9d1b-0a3a5e2d4f60',
  context: Buffer.alloc(32, 3).toString('base64'),
};

/** Keys that are sealed to several recipients, and one that is delivered. */
async function several(): Promise<SealedCase[]> {
  const [first, second] = [await newRecipient(), await newRecipient('ML-KEM-1024')];
  const third = await newRecipient();
  const both = [first, second];
  const { answer } = await severalAnswer(both);
  const stranger = await newRecipient();
  const recipientKey = formatRecipientKey(second);
  const thumbprint = async ({ publicKey }: RecipientKey) =>
    encodeBase64(await thumbprintOf(publicKey));
  const [a, b, c] = [await thumbprint(first), await thumbprint(second), await thumbprint(third)];
  const expecting = (name: string, expectRecipients: string[], sealed: unknown = answer) => ({
    ...{ name: `a key for two, ${name}`, sealed, recipientKey, expectRecipients },
  });
  const one = await sealedAnswer(second);
  const delivered = await severalAnswer([second], { delivery: DELIVERY });
  return [
    {
      name: 'a key for two, by the first',
      sealed: answer,
      recipientKey: formatRecipientKey(first),
    },
    { name: 'a key for two, by the second', sealed: answer, recipientKey, policy: POLICY },
    { name: 'a key for two, as text', sealed: JSON.stringify(answer), recipientKey },
    {
      name: 'a key for two, by neither',
      sealed: answer,
      recipientKey: formatRecipientKey(stranger),
    },
    { name: 'a copy alone', sealed: answer.sealed_keys[1], recipientKey },
    { name: 'a copy for another', sealed: answer.sealed_keys[0], recipientKey },
    { name: 'no copies', sealed: { ...answer, sealed_keys: [] }, recipientKey },
    { name: 'copies that are no list', sealed: { ...answer, sealed_keys: {} }, recipientKey },
    { name: 'a copy that is none', sealed: { ...answer, sealed_keys: [{}] }, recipientKey },
    {
      name: 'nine copies',
      sealed: { ...answer, sealed_keys: Array(9).fill(answer.sealed_keys[1]) },
      recipientKey,
    },
    { name: 'copies of another key', sealed: { ...answer, key_id: 'phm_1' }, recipientKey },
    expecting('both expected', [a, b]),
    expecting('the other expected', [a]),
    expecting('the other expected by its file', [formatRecipient(first)]),
    expecting('none other expected', []),
    expecting('another expected', [c]),
    expecting('a third expected', [a, b, c]),
    expecting('one expected of one', [], one.answer),
    expecting('one more expected than one', [a], one.answer),
    { name: 'a delivered key', sealed: delivered.answer, recipientKey, policy: POLICY },
    { name: 'a delivered key without a policy', sealed: delivered.answer, recipientKey },
    ...(await severalReceipts(both, answer, recipientKey, [a, b, c])),
  ];
}

/** Receipts that are right in themselves, and of another sealed key. */
async function severalReceipts(
  both: readonly RecipientKey[],
  answer: SeveralAnswer,
  recipientKey: string,
  [a, b, c]: readonly [string, string, string],
): Promise<SealedCase[]> {
  const sealed = answer.receipt.statement.sealed as readonly [StatedSeal, StatedSeal];
  const zeros = Buffer.alloc(32).toString('base64');
  const changes = {
    'one of its recipients': { sealed: [sealed[1]], delivery: DELIVERY },
    'a further recipient': { sealed: [...sealed, { to: c, digest: zeros }] },
    'another recipient': { sealed: [{ to: c, digest: zeros }, sealed[1]] },
    'the recipients in another order': { sealed: sealed.toReversed() },
    'another digest for the opener': { sealed: [sealed[0], { to: b, digest: zeros }] },
    'exchanged digests': {
      sealed: [
        { to: a, digest: sealed[1].digest },
        { to: b, digest: sealed[0].digest },
      ],
    },
    'a delivery': { delivery: { ...DELIVERY, context: null } },
  };
  const wrong = Object.entries(changes).map(async ([name, change]) => {
    const made = await severalAnswer(both, { changes: change });
    return { name: `a receipt with ${name}`, sealed: made.answer, recipientKey, policy: POLICY };
  });
  const other = await sealedAnswer(both[1] as RecipientKey);
  const crossed = [
    ['a receipt of the first type for a copy', answer.sealed_keys[1], other.answer.receipt],
    ['a receipt of the second type for one', other.answer.sealed_key, answer.receipt],
  ] as const;
  return [
    ...(await Promise.all(wrong)),
    ...crossed.map(([name, sealed, receipt]) => ({
      ...{ name, sealed, receipt, recipientKey, policy: POLICY },
    })),
    ...(await misstated(recipientKey, both[1] as RecipientKey)),
  ];
}

/** A receipt for a key of one recipient that names a delivery, which the header does not. */
async function misstated(recipientKey: string, own: RecipientKey): Promise<SealedCase[]> {
  const to = encodeBase64(await thumbprintOf(own.publicKey));
  const digest = Buffer.alloc(32).toString('base64');
  const statement = { sealed: [{ to, digest }], delivery: DELIVERY };
  const { answer } = await sealedAnswer(own, { statement });
  const name = 'a receipt of a delivery for a key without one';
  return [{ name, sealed: answer, recipientKey, policy: POLICY }];
}
