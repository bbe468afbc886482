/** A log of its own that signs receipts with `node:crypto`, apart from the service's code. */
import {
  createHash,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { canonicalJson } from '../../packages/tlog/src/index.ts';
import type { KeyStatement, KeyStatementV1, KeyStatementV2, Receipt } from '../../sdk/src/index.ts';

export const ORIGIN = 'keys.example/log';
const KEY_ID = 'phm_2170353998975470955695595929441419327';
/** Time of the signatures, in seconds since the epoch. */
const SIGNED_AT = 1_800_000_000;

const TYPES = { ed25519: 1, 'ed25519-cosignature': 4, 'ml-dsa-44': 6 } as const;
type Kind = keyof typeof TYPES;

const sha256 = (...parts: (Uint8Array | string)[]): Buffer<ArrayBuffer> => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};

interface Head {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

const headText = ({ origin, size, root }: Head): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`;

/** A key of a log or witness. */
export class Signer {
  readonly name: string;
  readonly kind: Kind;
  readonly #private: KeyObject;
  readonly publicKey: Buffer;

  constructor(name: string, kind: Kind) {
    this.name = name;
    this.kind = kind;
    const pair =
      kind === 'ml-dsa-44' ? generateKeyPairSync('ml-dsa-44') : generateKeyPairSync('ed25519');
    this.#private = pair.privateKey;
    const jwk = pair.publicKey.export({ format: 'jwk' }) as { x?: string; pub?: string };
    this.publicKey = Buffer.from(jwk.pub ?? jwk.x ?? '', 'base64url');
  }

  get keyId(): Buffer {
    const type = Uint8Array.of(TYPES[this.kind]);
    return sha256(`${this.name}\n`, type, this.publicKey).subarray(0, 4);
  }

  get vkey(): string {
    const key = Buffer.concat([Uint8Array.of(TYPES[this.kind]), this.publicKey]);
    return `${this.name}+${this.keyId.toString('hex')}+${key.toString('base64')}`;
  }

  /** Returns a signature line under this head. */
  line(head: Head, time: number = SIGNED_AT): string {
    const bytes = Buffer.concat([this.keyId, this.#sign(head, time)]);
    return `— ${this.name} ${bytes.toString('base64')}\n`;
  }

  #sign(head: Head, time: number): Buffer {
    const text = headText(head);
    if (this.kind === 'ed25519') return sign(null, Buffer.from(text), this.#private);
    const message =
      this.kind === 'ml-dsa-44'
        ? Buffer.concat([
            Buffer.from('subtree/v1\n\0'),
            Uint8Array.of(this.name.length),
            Buffer.from(this.name),
            u64(time),
            Uint8Array.of(head.origin.length),
            Buffer.from(head.origin),
            u64(0),
            u64(head.size),
            head.root,
          ])
        : Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
    return Buffer.concat([u64(time), sign(null, message, this.#private)]);
  }
}

/** RFC 6962 §2.1, as it is written. */
function treeRoot(entries: readonly Buffer[]): Buffer {
  if (entries.length === 1) return sha256(Uint8Array.of(0), entries[0] as Buffer);
  const k = splitOf(entries.length);
  return sha256(Uint8Array.of(1), treeRoot(entries.slice(0, k)), treeRoot(entries.slice(k)));
}

/** RFC 6962 §2.1.1, as it is written. */
function pathTo(index: number, entries: readonly Buffer[]): Buffer[] {
  if (entries.length === 1) return [];
  const k = splitOf(entries.length);
  return index < k
    ? [...pathTo(index, entries.slice(0, k)), treeRoot(entries.slice(k))]
    : [...pathTo(index - k, entries.slice(k)), treeRoot(entries.slice(0, k))];
}

const splitOf = (n: number): number => 2 ** Math.ceil(Math.log2(n) - 1);

export const LOG: Signer = new Signer(ORIGIN, 'ml-dsa-44');
export const LOG_ED25519: Signer = new Signer(ORIGIN, 'ed25519');

/** Members of a statement: with `sealed` of the second type. */
export type Changes = Partial<KeyStatementV1> | Partial<KeyStatementV2>;

interface IssueOptions {
  readonly statement?: Changes;
  readonly bits?: number;
  readonly index?: number;
  readonly size?: number;
  readonly signers?: readonly Signer[];
  readonly time?: number;
  /** Name in the checkpoint; the statement's service by default. */
  readonly origin?: string;
  /** Random by default. */
  readonly key?: Buffer;
  readonly opening?: Buffer;
}

interface Issued {
  readonly receipt: Receipt;
  /** In hexadecimal. */
  readonly key: string;
  /** In base64. */
  readonly opening: string;
}

/** Returns a receipt that is right in every part, with its key and opening. */
export function issue({
  statement: changes = {},
  bits = 256,
  index = 5,
  size = 11,
  signers = [LOG_ED25519, LOG],
  time = SIGNED_AT,
  origin,
  key = randomBytes(bits / 8),
  opening = randomBytes(32),
}: IssueOptions = {}): Issued {
  const statement = makeStatement(key, opening, changes);
  const entries: Buffer[] = Array.from({ length: size }, () => randomBytes(32));
  entries[index] = sha256(canonicalJson(statement));
  const head = { origin: origin ?? statement.service, size, root: treeRoot(entries) };
  const hashes = pathTo(index, entries).map((hash) => `${hash.toString('base64')}\n`);
  const lines = signers.map((signer) => signer.line(head, time));
  const proof = `c2sp.org/tlog-proof@v1\nindex ${index}\n${hashes.join('')}\n${headText(head)}\n${lines.join('')}`;
  const receipt = { statement, proof };
  return { receipt, key: key.toString('hex'), opening: opening.toString('base64') };
}

function makeStatement(key: Buffer, opening: Buffer, changes: Changes): KeyStatement {
  const bits = key.length * 8;
  const commitment = createHmac('sha256', opening)
    .update('phm/key-commitment/v1\0')
    .update(Uint8Array.of(bits >> 8, bits & 255))
    .update(`${changes.key_id ?? KEY_ID}\0`)
    .update(key)
    .digest('base64');
  const facts = {
    service: ORIGIN,
    key_id: KEY_ID,
    time: '2027-01-15T07:59:59.123+00:00',
    security_level: bits,
    security_strength_bits: Math.min(bits, 256),
    key_commitment: commitment,
    evidence: null,
    modulation: 'phase',
    sources: [{ name: 'os', credit_bits: 256 }],
    row_digest: randomBytes(32).toString('base64'),
    software: 'phm-key-service/0.1.0+0123456789abcdef',
    salt: randomBytes(32).toString('base64'),
  };
  if ('sealed' in changes) {
    const { sealed = [], delivery = null, ...others } = changes;
    return { ...facts, ...others, type: 'phm-key-receipt/v2', sealed, delivery };
  }
  const plain = { type: 'phm-key-receipt/v1', sealed_to: null, sealed_digest: null } as const;
  return { ...facts, ...plain, ...changes } as KeyStatementV1;
}

/** Returns a policy that lists these logs and witnesses. */
export function policyOf(
  logs: readonly Signer[],
  witnesses: Readonly<Record<string, Signer>> = {},
  quorum = 'quorum none',
): string {
  return [
    ...logs.map(({ vkey }) => `log ${vkey}`),
    ...Object.entries(witnesses).map(([name, { vkey }]) => `witness ${name} ${vkey}`),
    quorum,
    '',
  ].join('\n');
}

/** The policy that a service publishes: the post-quantum key alone. */
export const POLICY: string = policyOf([LOG]);

/** A time shortly after the signatures. */
export const NOW: Date = new Date((SIGNED_AT + 3600) * 1000);
