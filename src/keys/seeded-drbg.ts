/**
 * The DRBG of a generator: each reseed has an additional input of its own, and a limit of output follows it.
 */
import { threadId } from 'node:worker_threads';
import { concatBytes, wipe } from '../bytes.ts';
import type { SeedMaterial } from '../entropy/index.ts';

/**
 * Bits of output between two reseeds at most: SP 800-90C §5.2.3 and §6.4.2 ask for a reseed after 2^17 bits of an RBG2 or
 * RBG3(XOR). SP 800-90A allows 2^67 (2^48 requests of 2^19 bits).
 */
export const MAX_BITS_PER_RESEED = 2 ** 17;

/** Length in bytes of instance, process, thread, counter and clocks. */
const IDENTITY_BYTES = 48;

/** The part of a DRBG that generation uses. Tests replace it with a broken one. */
export interface BitGenerator {
  reseed(entropyInput: Uint8Array, additionalInput?: Uint8Array): void;
  generate(lengthBytes: number, additionalInput?: Uint8Array): Buffer;
  destroy(): void;
}

export class SeededDrbg {
  readonly #drbg: BitGenerator;
  /** Start of the additional input of each reseed, rewritten for each. */
  readonly #identity = new DataView(new ArrayBuffer(IDENTITY_BYTES));
  #reseeds = 0;
  #bitsLeft = MAX_BITS_PER_RESEED;

  /** `instanceId`: 16 random bytes. */
  constructor(drbg: BitGenerator, instanceId: Buffer) {
    this.#drbg = drbg;
    new Uint8Array(this.#identity.buffer).set(instanceId);
  }

  /** Reseeds since it was made. */
  get reseeds(): number {
    return this.#reseeds;
  }

  /**
   * Reseeds (SP 800-90A §10.2.1.4.2), and wipes the seed material. Draws without credit are additional input, as SP 800-90C
   * §2.6 has it.
   */
  reseed({ entropyInput, uncredited }: SeedMaterial): void {
    const additionalInput = concatBytes(this.#nextIdentity(), uncredited);
    try {
      this.#drbg.reseed(entropyInput, additionalInput);
    } finally {
      wipe(entropyInput, uncredited, additionalInput);
    }
    this.#bitsLeft = MAX_BITS_PER_RESEED;
  }

  /**
   * Returns the output of one request, in separate memory. The caller MUST wipe it. Throws `RangeError` if more than
   * `MAX_BITS_PER_RESEED` would follow one reseed.
   */
  generate(lengthBytes: number): Buffer {
    const lengthBits = 8 * lengthBytes;
    // Also refuses what is no number.
    if (!(lengthBits <= this.#bitsLeft)) {
      throw new RangeError(
        `"lengthBytes" expected at most ${this.#bitsLeft / 8} before the next reseed, got ${lengthBytes}`,
      );
    }
    this.#bitsLeft -= lengthBits;
    return this.#drbg.generate(lengthBytes);
  }

  destroy(): void {
    this.#drbg.destroy();
  }

  /** Returns instance, process, thread, counter and clocks: distinct for every reseed of every copy of the state. */
  #nextIdentity(): Uint8Array {
    this.#reseeds += 1;
    this.#identity.setUint32(16, process.pid);
    this.#identity.setUint32(20, threadId);
    this.#identity.setBigUint64(24, BigInt(this.#reseeds));
    this.#identity.setBigUint64(32, process.hrtime.bigint());
    this.#identity.setBigUint64(40, BigInt(Date.now()));
    return new Uint8Array(this.#identity.buffer);
  }
}
