/** Remembers the retired versions of the master secret that the key worker last read in a batch or a check. */
import { isDeepStrictEqual } from 'node:util';
import type { Retirements } from '../../keys/validate.ts';
import type { RetiredVersion } from './messages.ts';

export class KnownRetirements {
  readonly #currentVersion: number;
  readonly #onChange: (retired: readonly RetiredVersion[]) => void;
  #retired: readonly RetiredVersion[] = [];

  /** Calls `onChange` with each reading that differs from the previous one. */
  constructor(currentVersion: number, onChange: (retired: readonly RetiredVersion[]) => void) {
    this.#currentVersion = currentVersion;
    this.#onChange = onChange;
  }

  /** Notes a reading, and returns it in the form for the main thread. */
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

  /** True if the current version is retired. */
  get isCurrentRetired(): boolean {
    return this.#retired.some(({ current }) => current);
  }
}
