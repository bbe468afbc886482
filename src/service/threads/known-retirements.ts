/** What the key worker has last read of retired versions of the master secret, by a batch or by a check. */
import { isDeepStrictEqual } from 'node:util';
import type { Retirements } from '../../keys/validate.ts';
import type { RetiredVersion } from '../messages.ts';

export class KnownRetirements {
  readonly #currentVersion: number;
  readonly #onChange: (retired: readonly RetiredVersion[]) => void;
  #retired: readonly RetiredVersion[] = [];

  /** `onChange` is told of each reading that differs from the one before. */
  constructor(currentVersion: number, onChange: (retired: readonly RetiredVersion[]) => void) {
    this.#currentVersion = currentVersion;
    this.#onChange = onChange;
  }

  /** Takes a reading in, and returns it as the main thread is told. */
  note(retirements: Retirements): readonly RetiredVersion[] {
    const retired = [...retirements].map(([version, { compromisedMs }]) => ({
      version,
      compromisedMs,
      current: version === this.#currentVersion,
    }));
    if (!isDeepStrictEqual(retired, this.#retired)) {
      this.#retired = retired;
      this.#onChange(retired);
    }
    return retired;
  }

  /** Whether keys would be made under a retired version. */
  get isCurrentRetired(): boolean {
    return this.#retired.some(({ current }) => current);
  }
}
