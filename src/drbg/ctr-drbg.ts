/**
 * CTR_DRBG with AES-256 and the derivation function: NIST SP 800-90A Rev. 1, Recommendation for
 * Random Number Generation Using Deterministic Random Bit Generators, §10.2.1.
 * https://doi.org/10.6028/NIST.SP.800-90Ar1
 *
 * `Key`, `V` and `provided_data` are the standard's names. The counter field is the whole block
 * (ctr_len = blocklen). For prediction resistance the caller reseeds, then generates (§9.3.1, 7).
 */
import { newBytes, wipe } from '../bytes.ts';
import { BLOCK_BYTES, ctrEncrypt, incrementInto, KEY_BYTES } from './_aes.ts';
import { blockCipherDf, SEED_LENGTH_BYTES } from './block-cipher-df.ts';

export { SEED_LENGTH_BYTES };
export const SECURITY_STRENGTH_BITS = 256;
/** SP 800-90A Rev. 1 Table 3: at most 2^19 bits per request. */
export const MAX_REQUEST_BITS: number = 2 ** 19;
/** SP 800-90A Rev. 1 Table 3: at most 2^48 requests between reseeds. */
export const RESEED_INTERVAL: number = 2 ** 48;
/** Table 3 allows 2^35 bits for each input. This implementation accepts at most 64 KiB. */
export const MAX_INPUT_BYTES = 65_536;

// Table 3: min_length of the entropy input is the security strength.
const MIN_ENTROPY_BYTES = SECURITY_STRENGTH_BITS / 8;
// §8.6.7: the nonce has at least half the security strength.
const MIN_NONCE_BYTES = SECURITY_STRENGTH_BITS / 16;
const MAX_REQUEST_BYTES = MAX_REQUEST_BITS / 8;

const EMPTY: Buffer = Buffer.alloc(0);
// Plaintext of every counter-mode pass. Nothing writes to it.
const ZEROS: Buffer = Buffer.alloc(MAX_REQUEST_BYTES + SEED_LENGTH_BYTES);

/** Input of `CtrDrbg.instantiate`. */
interface InstantiateInput {
  /** At least 32 bytes carrying at least 256 bits of entropy. */
  entropyInput: Uint8Array;
  /** At least 16 bytes that no other instantiation uses. */
  nonce: Uint8Array;
  personalization?: Uint8Array;
  /** Requests between reseeds, 1…2^48. The default is 2^48. */
  reseedInterval?: number;
}

/** One generator instance. It keeps no reference to inputs or outputs: the caller wipes both. */
export class CtrDrbg {
  readonly #key: Buffer = newBytes(KEY_BYTES);
  readonly #v: Buffer = newBytes(BLOCK_BYTES);
  readonly #counter: Buffer = newBytes(BLOCK_BYTES);
  readonly #reseedInterval: number;
  #reseedCounter = 0;
  #destroyed = false;

  private constructor(reseedInterval: number) {
    this.#reseedInterval = reseedInterval;
  }

  /**
   * Instantiates (§10.2.1.3.2). Throws `TypeError` if an input is not bytes, and `RangeError` if it
   * is too short or too long.
   */
  static instantiate(input: InstantiateInput): CtrDrbg {
    const { entropyInput, nonce, personalization = EMPTY } = input;
    const { reseedInterval = RESEED_INTERVAL } = input;
    assertBytes('entropyInput', entropyInput, MIN_ENTROPY_BYTES);
    assertBytes('nonce', nonce, MIN_NONCE_BYTES);
    assertBytes('personalization', personalization, 0);
    assertInteger('reseedInterval', reseedInterval, 1, RESEED_INTERVAL);
    // Steps 3, 4: Key and V start as zeros.
    const drbg = new CtrDrbg(reseedInterval);
    drbg.#seed(entropyInput, nonce, personalization);
    return drbg;
  }

  /**
   * Reseeds (§10.2.1.4.2) from at least 32 fresh bytes of `entropyInput`. Throws like
   * `instantiate`.
   */
  reseed(entropyInput: Uint8Array, additionalInput: Uint8Array = EMPTY): void {
    this.#assertUsable();
    assertBytes('entropyInput', entropyInput, MIN_ENTROPY_BYTES);
    assertBytes('additionalInput', additionalInput, 0);
    this.#seed(entropyInput, additionalInput);
  }

  /**
   * Generates 1…65,536 pseudorandom bytes (§10.2.1.5.2) in new memory, which the caller owns and
   * MUST wipe. Throws `RangeError` on a longer request, and `Error` if the reseed interval is used
   * up or the generator destroyed. It then generates nothing.
   */
  generate(lengthBytes: number, additionalInput: Uint8Array = EMPTY): Buffer {
    this.#assertUsable();
    assertInteger('lengthBytes', lengthBytes, 1, MAX_REQUEST_BYTES);
    assertBytes('additionalInput', additionalInput, 0);
    // Step 1: past the interval the standard returns "a reseed is required".
    if (this.#reseedCounter > this.#reseedInterval) {
      throw new Error(`the generator needs a reseed after ${this.#reseedInterval} requests`);
    }
    if (additionalInput.length === 0) {
      // Step 2 (else): additional_input = 0^seedlen, so step 6 XORs nothing.
      return this.#generateAndUpdate(lengthBytes, null);
    }
    // Steps 2.1, 2.2.
    const providedData = blockCipherDf(additionalInput);
    this.#update(providedData);
    const output = this.#generateAndUpdate(lengthBytes, providedData);
    wipe(providedData);
    return output;
  }

  /** Overwrites Key and V (§9.4). Every later reseed and generate throws. */
  destroy(): void {
    wipe(this.#key, this.#v, this.#counter);
    this.#destroyed = true;
  }

  get destroyed(): boolean {
    return this.#destroyed;
  }

  /** Requests since the last (re)seeding, plus one, as counted by the standard. */
  get reseedCounter(): number {
    return this.#reseedCounter;
  }

  #seed(...seedMaterial: readonly Uint8Array[]): void {
    const providedData = blockCipherDf(...seedMaterial);
    this.#update(providedData);
    wipe(providedData);
    this.#reseedCounter = 1;
  }

  /** §10.2.1.2, CTR_DRBG_Update: three blocks of keystream XORed with the provided data. */
  #update(providedData: Uint8Array): void {
    incrementInto(this.#counter, this.#v);
    const temp = ctrEncrypt(this.#key, this.#counter, providedData);
    this.#setState(temp, 0);
    wipe(temp);
  }

  /**
   * Steps 3 to 7 in one counter-mode pass. The three blocks after the output are the keystream of
   * the closing CTR_DRBG_Update, because both use the same Key and a running V.
   */
  #generateAndUpdate(lengthBytes: number, providedData: Uint8Array | null): Buffer {
    const outputBlocksBytes = Math.ceil(lengthBytes / BLOCK_BYTES) * BLOCK_BYTES;
    incrementInto(this.#counter, this.#v);
    const zeros = ZEROS.subarray(0, outputBlocksBytes + SEED_LENGTH_BYTES);
    const stream = ctrEncrypt(this.#key, this.#counter, zeros);
    const output = newBytes(lengthBytes);
    stream.copy(output, 0, 0, lengthBytes);
    if (providedData !== null) xorInto(stream, providedData, outputBlocksBytes);
    this.#setState(stream, outputBlocksBytes);
    wipe(stream);
    this.#reseedCounter += 1;
    return output;
  }

  /** Takes Key and V from the 48 bytes at `offset`. */
  #setState(temp: Buffer, offset: number): void {
    temp.copy(this.#key, 0, offset, offset + KEY_BYTES);
    temp.copy(this.#v, 0, offset + KEY_BYTES, offset + SEED_LENGTH_BYTES);
  }

  #assertUsable(): void {
    if (this.#destroyed) throw new Error('the generator was destroyed and gives no more output');
  }
}

function xorInto(target: Uint8Array, data: Uint8Array, offset: number): void {
  for (let i = 0; i < data.length; i++) target[offset + i] ^= data[i];
}

function assertBytes(name: string, bytes: Uint8Array, minBytes: number): void {
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError(`"${name}" expected Uint8Array, got ${typeof bytes}`);
  }
  if (bytes.length < minBytes || bytes.length > MAX_INPUT_BYTES) {
    throw new RangeError(
      `"${name}" expected Uint8Array of ${minBytes} to ${MAX_INPUT_BYTES} bytes, got length=${bytes.length}`,
    );
  }
}

function assertInteger(name: string, value: number, min: number, max: number): void {
  if (typeof value !== 'number') {
    throw new TypeError(`"${name}" expected an integer, got ${typeof value}`);
  }
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new RangeError(`"${name}" expected an integer from ${min} to ${max}, got ${value}`);
  }
}
