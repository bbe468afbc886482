/** Seals a key to a recipient (RFC 9180 §6.1, base mode, one message). */
import { type CipherSuite, DeserializeError, EncapError, type Key, ValidationError } from 'hpke';
import { encodeBase64 } from '../../tlog/src/index.ts';
import { encodeBase64Url } from './base64url.ts';
import {
  type Copies,
  SEALED_KEY,
  SEALED_KEY_V2,
  type SealHeader,
  sealHeaderBytes,
} from './header.ts';
import {
  infoOf,
  isUnsupported,
  type Kems,
  PLATFORM_KEMS,
  type Primitives,
  webCrypto,
} from './hpke.ts';
import { type SealedContent, writePlaintext } from './plaintext.ts';
import { publicKeyProblem } from './public-key.ts';
import type { Recipient } from './recipient.ts';
import type { SealedKey } from './sealed-key.ts';
import { idsOf, type SealSuite, suiteOf } from './suites.ts';

/** The members of the header that the caller knows. */
type SealFacts = Pick<
  SealHeader,
  'service' | 'key_id' | 'security_level' | 'time' | 'key_commitment'
>;

/** What to seal, and to whom. The caller owns key and opening and MUST wipe them. */
export interface SealOrder extends Recipient, SealedContent {
  readonly header: SealFacts;
  /** What the copies of this key have in common, if it has several recipients or a delivery. The recipient is one of them. */
  readonly copies?: Copies | undefined;
  /** Called with the plaintext just before it is sealed. What it throws rejects the call. */
  readonly inspect?: (plaintext: Uint8Array) => void;
}

export interface Sealed {
  readonly sealedKey: SealedKey;
  /** SHA-256 of the recipient's raw public key, 32 bytes. */
  readonly thumbprint: Uint8Array;
  /** SHA-256(enc ‖ ciphertext), 32 bytes. */
  readonly digest: Uint8Array;
}

/** Nothing can be sealed to the public key. The message is one sentence for the caller. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/**
 * Seals a key. Rejects with `SealError` for a public key that `publicKeyProblem` or the KEM refuses, and with an error that
 * `isUnsupported` knows if the platform lacks the suite.
 */
export async function seal(order: SealOrder, kems: Kems = PLATFORM_KEMS): Promise<Sealed> {
  return (await Sealer.to(order, webCrypto(kems))).seal(order);
}

/** Seals any number of keys to one recipient, whose public key is checked and read once. */
export class Sealer {
  readonly recipient: Recipient;
  /** SHA-256 of the recipient's raw public key, 32 bytes. */
  readonly thumbprint: Uint8Array;
  readonly #hpke: CipherSuite;
  readonly #publicKey: Key;
  readonly #sha256: Primitives['sha256'];

  private constructor(
    recipient: Recipient,
    { thumbprint, hpke, publicKey }: { thumbprint: Uint8Array; hpke: CipherSuite; publicKey: Key },
    hash: Primitives['sha256'],
  ) {
    this.recipient = recipient;
    this.thumbprint = thumbprint;
    this.#hpke = hpke;
    this.#publicKey = publicKey;
    this.#sha256 = hash;
  }

  /** Rejects as `seal` does. */
  static async to(
    { suite, publicKey: bytes }: Recipient,
    { cipherSuite, sha256 }: Primitives,
  ): Promise<Sealer> {
    const { name } = suiteOf(suite);
    const problem = publicKeyProblem(name, bytes);
    if (problem !== null) throw new SealError(problem);
    const hpke = cipherSuite(name);
    const publicKey = await refusing(() => hpke.DeserializePublicKey(bytes));
    const thumbprint = await sha256(bytes);
    return new Sealer({ suite: name, publicKey: bytes }, { thumbprint, hpke, publicKey }, sha256);
  }

  /** Rejects with `SealError` if the KEM refuses the public key. */
  async seal(order: Omit<SealOrder, keyof Recipient>): Promise<Sealed> {
    const suite = suiteOf(this.recipient.suite);
    const header = this.#headerOf(order, suite);
    const aad = sealHeaderBytes(header);
    const info = infoOf(header.type, await this.#sha256(aad));
    const { enc, ciphertext } = await this.#sealPlaintext(order, { aad, info });
    return {
      sealedKey: {
        suite: suite.name,
        ...idsOf(suite),
        enc: encodeBase64Url(enc),
        ciphertext: encodeBase64Url(ciphertext),
        header: encodeBase64Url(aad),
      },
      thumbprint: this.thumbprint,
      digest: await this.#sha256(enc, ciphertext),
    };
  }

  #headerOf({ header, copies }: Omit<SealOrder, keyof Recipient>, suite: SealSuite): SealHeader {
    const facts = { ...header, ...idsOf(suite), thumbprint: encodeBase64(this.thumbprint) };
    if (!copies) return { type: SEALED_KEY, ...facts };
    return { type: SEALED_KEY_V2, ...facts, ...copies };
  }

  async #sealPlaintext(
    content: Omit<SealOrder, keyof Recipient>,
    bound: { readonly aad: Uint8Array; readonly info: Uint8Array },
  ): Promise<{ readonly enc: Uint8Array; readonly ciphertext: Uint8Array }> {
    const plaintext = writePlaintext(content);
    try {
      content.inspect?.(plaintext);
      const { encapsulatedSecret: enc, ciphertext } = await refusing(() =>
        this.#hpke.Seal(this.#publicKey, plaintext, bound),
      );
      return { enc, ciphertext };
    } finally {
      plaintext.fill(0);
    }
  }
}

/** Runs a step of HPKE. Rejects with `SealError` if it refuses the public key. */
async function refusing<T>(step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (isUnsupported(error) || !isRefusedKey(error)) throw error;
    throw new SealError('Nothing can be sealed to this public key: the KEM refuses it.', {
      cause: error,
    });
  }
}

/** RFC 9180 §4, errors of the KEM about a public key. The library names its errors after them. */
function isRefusedKey(error: unknown): boolean {
  return (
    error instanceof DeserializeError ||
    error instanceof EncapError ||
    error instanceof ValidationError
  );
}
