/** A DRBG with a defect of the table in `defects.ts`: from the start or later, always or after some reseeds. */
import { CtrDrbg } from '../../src/drbg/index.ts';
import type { BitGenerator } from '../../src/keys/seeded-drbg.ts';
import type { Defect } from './defects.ts';
import { type Alter, Noise } from './weak-sources.ts';

/** Ignores the additional input, which contains the time, so that the output is the same in every run. */
export class BrokenDrbg implements BitGenerator {
  /** False while the generator still works. */
  broken: boolean;
  readonly #drbg: CtrDrbg;
  readonly #alter: Alter;
  readonly #reseeding: Defect['reseeding'];
  readonly #request: Defect['request'];
  readonly #share: number;
  readonly #chance: Noise;
  /** True if the output since the last reseed is broken. */
  #hit: boolean;
  /** Requests since the last reseed. */
  #requests = 0;

  constructor(defect: Defect, seed: number, broken: boolean) {
    const { breaks, reseeding, request, share = 1 } = defect;
    this.broken = broken;
    const noise = new Noise(seed, 'drbg');
    this.#drbg = CtrDrbg.instantiate({ entropyInput: noise.bytes(32), nonce: noise.bytes(16) });
    this.#alter = breaks?.(seed) ?? (() => {});
    this.#reseeding = reseeding;
    this.#request = request;
    this.#share = share;
    this.#chance = new Noise(seed, 'share');
    this.#hit = share === 1;
  }

  reseed(entropyInput: Uint8Array): void {
    this.#hit = this.#chance.bit(this.#share) === 1;
    this.#requests = 0;
    if (!this.broken || this.#reseeding === undefined) this.#drbg.reseed(entropyInput);
    else if (this.#reseeding === 'constant') this.#drbg.reseed(Buffer.alloc(48));
  }

  generate(lengthBytes: number): Buffer {
    const output = this.#drbg.generate(lengthBytes);
    this.#requests += 1;
    if (this.broken && this.#hit && this.#isMeant()) this.#alter(output);
    return output;
  }

  #isMeant(): boolean {
    return this.#request === undefined || this.#request === this.#requests;
  }

  destroy(): void {
    this.#drbg.destroy();
  }
}
