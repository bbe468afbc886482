/**
 * Compares the numbers of a hexadecimal text that begin with 0x. A program that prints bytes with "0x%x" leaves out
 * leading zeros, and one with "%#04x" leaves 0x out for 0: four bits for each digit would not be the bytes. Without 0x, a
 * shorter group may be the rest of a line.
 */

/** A number with 0x of another length than the first one, or numbers with and without 0x. */
export type NumberFault =
  | { readonly kind: 'uneven'; readonly digits: number; readonly expected: number }
  | { readonly kind: 'mixed' };

export class PrefixedNumbers {
  /** Digits of the first number with 0x. */
  #expected = 0;
  #prefixed = 0;
  #hasBare = false;
  /** Digits of the number so far, without 0x. */
  #digits = 0;
  #isPrefixed = false;

  addPrefix(): void {
    this.#isPrefixed = true;
  }

  addDigit(): void {
    this.#digits++;
  }

  /** Ends the number, if there is one. Returns why it does not suit those before it. */
  end(): NumberFault | null {
    const digits = this.#digits;
    const isPrefixed = this.#isPrefixed;
    if (digits === 0 && !isPrefixed) return null;
    this.#digits = 0;
    this.#isPrefixed = false;
    if (isPrefixed) this.#prefixed++;
    else this.#hasBare = true;
    // A single 0x may stand before digits that are wrapped into lines.
    if (this.#hasBare && this.#prefixed > 1) return { kind: 'mixed' };
    if (this.#prefixed === 1 && isPrefixed) this.#expected = digits;
    const expected = this.#expected;
    return isPrefixed && digits !== expected ? { kind: 'uneven', digits, expected } : null;
  }
}
