/**
 * "How to verify" of docs/receipts.md, step by step, as a stranger would write it: with `node:crypto` and nothing of
 * this project. Throws an error that names the step.
 */
import {
  createHash,
  createHmac,
  createPublicKey,
  type KeyObject,
  timingSafeEqual,
  verify,
} from 'node:crypto';

/** What a receipt that verifies has shown. */
interface Shown {
  readonly origin: string;
  readonly index: number;
  readonly size: number;
  /** Root of the checkpoint, in base64. */
  readonly root: string;
  /** Names of the keys whose signatures verified, with their types. */
  readonly signedBy: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: the statement as JSON.parse returns it.
export type Json = any;

interface Given {
  readonly receipt: { readonly statement: Json; readonly proof: string };
  /** Text of the pinned policy. */
  readonly policy: string;
  readonly key?: Uint8Array;
  readonly opening?: Uint8Array;
}

interface Key {
  readonly name: string;
  readonly id: Buffer;
  readonly type: number;
  readonly key: KeyObject;
}

function sha256(...parts: Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function must(claim: boolean, step: string): void {
  if (!claim) throw new Error(step);
}

/** RFC 8785, for values without numbers that need care. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${members.join(',')}}`;
}

/** Returns the entry of a statement. */
export function entryByThePage(statement: Json): Buffer {
  return sha256(Buffer.from(canonical(statement)));
}

/** Returns the leaf hash of an entry. */
export function leafByThePage(entry: Uint8Array): Buffer {
  return sha256(Buffer.of(0), entry);
}

function base64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  must(bytes.toString('base64') === text, `1: base64 that is not canonical: ${text}`);
  return bytes;
}

/** Step 4. Returns the root that leaf and proof lead to. */
function rootOf(leaf: Buffer, index: number, size: number, hashes: readonly Buffer[]): Buffer {
  let [hash, f, s] = [leaf, index, size - 1];
  for (const q of hashes) {
    must(s !== 0, '4: too many hashes');
    if (f % 2 === 1 || f === s) {
      hash = sha256(Buffer.of(1), q, hash);
      while (f % 2 === 0 && f !== 0) [f, s] = [f / 2, Math.floor(s / 2)];
    } else {
      hash = sha256(Buffer.of(1), hash, q);
    }
    [f, s] = [Math.floor(f / 2), Math.floor(s / 2)];
  }
  must(s === 0, '4: too few hashes');
  return hash;
}

function publicKey(type: number, bytes: Buffer): KeyObject {
  const base64url = bytes.toString('base64url');
  const jwk =
    type === 6
      ? { kty: 'AKP', alg: 'ML-DSA-44', pub: base64url }
      : { kty: 'OKP', crv: 'Ed25519', x: base64url };
  return createPublicKey({ key: jwk, format: 'jwk' });
}

function readKey(vkey: string): Key {
  const [name = '', id = '', ...rest] = vkey.split('+');
  const material = base64(rest.join('+'));
  const expected = sha256(Buffer.from(`${name}\n`), material).subarray(0, 4);
  must(expected.toString('hex') === id, `5: the ID of ${name} is not the hash of its key`);
  const type = material[0] ?? 0;
  return { name, id: expected, type, key: publicKey(type, material.subarray(1)) };
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function withLength(text: string): Buffer {
  return Buffer.concat([Buffer.of(Buffer.byteLength(text)), Buffer.from(text)]);
}

/** Step 5: the message that a key of this type signs, and its signature. */
function signedMessage(key: Key, text: string, signature: Buffer): [Buffer, Buffer] {
  if (key.type === 1) return [Buffer.from(text), signature];
  const [time, bytes] = [signature.subarray(0, 8), signature.subarray(8)];
  if (key.type === 4) {
    return [Buffer.from(`cosignature/v1\ntime ${time.readBigUInt64BE()}\n${text}`), bytes];
  }
  const [origin = '', size = '', root = ''] = text.split('\n');
  const message = Buffer.concat([
    Buffer.from('subtree/v1\n\0'),
    withLength(key.name),
    time,
    withLength(origin),
    u64(0),
    u64(Number(size)),
    base64(root),
  ]);
  return [message, bytes];
}

function findKey(keys: readonly Key[], name: string, id: Buffer): Key | undefined {
  return keys.find((key) => key.name === name && key.id.equals(id));
}

/** Step 5. Returns the keys that signed. */
function checkSignatures(note: string, keys: readonly Key[]): Key[] {
  const end = note.lastIndexOf('\n\n');
  const text = note.slice(0, end + 1);
  const signed: Key[] = [];
  for (const line of note.slice(end + 2, -1).split('\n')) {
    const [dash, name = '', encoded = ''] = line.split(' ');
    must(dash === '—', '5: a signature line begins with a dash');
    const bytes = base64(encoded);
    const key = findKey(keys, name, bytes.subarray(0, 4));
    if (!key) continue;
    const [message, signature] = signedMessage(key, text, bytes.subarray(4));
    must(verify(null, message, key.key, signature), `5: the signature of ${name} does not verify`);
    signed.push(key);
  }
  return signed;
}

/** Reads the keys of the lines that begin with `word`; the policies of these tests have no groups. */
function policyKeys(policy: string, word: 'log' | 'witness'): Key[] {
  const place = word === 'log' ? 1 : 2;
  const lines = policy.split('\n').map((line) => line.trim().split(/[ \t]+/));
  return lines.filter(([first]) => first === word).map((words) => readKey(words[place] ?? ''));
}

/** Verifies the log's signatures on a checkpoint. Returns its three lines. */
export function checkpointByThePage(note: string, policy: string): Omit<Shown, 'index'> {
  const logKeys = policyKeys(policy, 'log');
  const signed = checkSignatures(note, [...logKeys, ...policyKeys(policy, 'witness')]);
  must(
    signed.some((key) => logKeys.includes(key)),
    '5: no log key of the policy has signed',
  );
  const [origin = '', size = '', root = ''] = note.split('\n');
  const signedBy = signed.map(({ name, type }) => `${name} (type ${type})`);
  return { origin, size: Number(size), root, signedBy };
}

/** Steps 1 to 6 of the page. */
export function verifyByThePage({ receipt, policy, key, opening }: Given): Shown {
  const { statement, proof } = receipt;
  must(Object.keys(receipt).sort().join() === 'proof,statement', '1: other members');
  const leaf = leafByThePage(entryByThePage(statement));
  const [head = '', ...others] = proof.split('\n\n');
  const [version, place = '', ...hashes] = head.split('\n');
  must(version === 'c2sp.org/tlog-proof@v1' && place.startsWith('index '), '3: no tlog-proof');
  const index = Number(place.slice('index '.length));
  const checkpoint = checkpointByThePage(others.join('\n\n'), policy);
  must(index < checkpoint.size, '3: the index is beyond the tree');
  must(statement.service === checkpoint.origin, '3: another log');
  const root = rootOf(leaf, index, checkpoint.size, hashes.map(base64));
  must(root.toString('base64') === checkpoint.root, '4: the root differs');
  if (key && opening) checkCommitment(statement, key, opening);
  return { ...checkpoint, index };
}

/** Step 6. */
function checkCommitment(statement: Json, key: Uint8Array, opening: Uint8Array): void {
  must(opening.length === 32, '6: the opening does not have 32 bytes');
  const bits = statement.security_level;
  const message = Buffer.concat([
    Buffer.from('phm/key-commitment/v1\0'),
    Buffer.of(bits >> 8, bits & 0xff),
    Buffer.from(`${statement.key_id}\0`),
    key,
  ]);
  const commitment = createHmac('sha256', opening).update(message).digest();
  must(timingSafeEqual(commitment, base64(statement.key_commitment)), '6: another key');
}

/** P-values of the tests that have more than one, in step 4 of "The evidence digest". */
const P_VALUES: Readonly<Record<string, number>> = {
  cumulative_sums: 2,
  serial: 2,
  non_overlapping_template: 148,
  random_excursions: 8,
  random_excursions_variant: 18,
};

const MODULATION_TESTS = ['frequency', 'block_frequency', 'runs', 'longest_run'];

/** Step 7: the evidence digest of a `nist_report`. */
export function evidenceDigestByThePage(report: Json): string {
  const modulated = MODULATION_TESTS.map(
    (name) => report.modulation_tests.find((test: Json) => test.name === name) ?? { name },
  );
  const units = [...report.tests, ...modulated].flatMap((test: Json) =>
    test.applicable
      ? test.p_values.map(billionths)
      : new Array(P_VALUES[test.name] ?? 1).fill(0xffff_ffff),
  );
  const bytes = Buffer.alloc(4 * units.length);
  for (const [i, unit] of units.entries()) bytes.writeUInt32LE(unit, 4 * i);
  const evidence = {
    definition: report.evidence_definition,
    gate_p_value: report.gate.p_value,
    p_values: bytes.toString('base64'),
    verdict: report.gate.verdict,
  };
  return `sha256:${sha256(Buffer.from(canonical(evidence))).toString('hex')}`;
}

function billionths(p: number): number {
  const units = Math.floor(p * 1e9);
  return units / 1e9 > p ? units - 1 : units;
}
