/**
 * The sequences of SP 800-22 Appendix B: binary expansions of π, e, √2 and √3, integer part
 * included (π = 11.0010…, e = 10.1011…), computed here with BigInt.
 */

/** Extra bits, so that no rounding error reaches the requested ones. */
const GUARD_BITS = 64;

export type ConstantName = 'pi' | 'e' | 'sqrt2' | 'sqrt3';

const INTEGER_BITS: Readonly<Record<ConstantName, number>> = { pi: 2, e: 2, sqrt2: 1, sqrt3: 1 };

/** Returns the first `n` bits of the binary expansion of a constant, one per element. */
export function expansion(name: ConstantName, n: number): Uint8Array {
  const fractionBits = n - INTEGER_BITS[name] + GUARD_BITS;
  const digits = (scaled(name, BigInt(fractionBits)) >> BigInt(GUARD_BITS)).toString(2);
  return Uint8Array.from(digits, Number);
}

/** Returns ⌊x · 2^fractionBits⌋, within a few units. */
function scaled(name: ConstantName, fractionBits: bigint): bigint {
  switch (name) {
    case 'sqrt2':
      return squareRoot(2n << (2n * fractionBits));
    case 'sqrt3':
      return squareRoot(3n << (2n * fractionBits));
    case 'e':
      return eulersNumber(fractionBits);
    case 'pi':
      return pi(fractionBits);
  }
}

/** Returns ⌊√value⌋ by Newton's iteration, starting from the root of the leading half of the digits. */
function squareRoot(value: bigint): bigint {
  if (value < 1n << 50n) return BigInt(Math.floor(Math.sqrt(Number(value))));
  const quarter = BigInt(Math.floor((value.toString(16).length * 4) / 4));
  let root = ((squareRoot(value >> (2n * quarter)) + 1n) << quarter) + 1n;
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** Returns e = Σ 1/k!, by binary splitting of the terms from a + 1 to b into P / Q. */
function eulersNumber(fractionBits: bigint): bigint {
  const split = (a: number, b: number): [bigint, bigint] => {
    if (b - a === 1) return [1n, BigInt(b)];
    const middle = (a + b) >> 1;
    const [P1, Q1] = split(a, middle);
    const [P2, Q2] = split(middle, b);
    return [P1 * Q2 + P2, Q1 * Q2];
  };
  // Enough terms that the next one, below 1/terms!, is beyond the last bit.
  let terms = 2;
  for (let bits = 0; bits <= Number(fractionBits); terms++) bits += Math.log2(terms);
  const [P, Q] = split(0, terms);
  return (1n << fractionBits) + (P << fractionBits) / Q;
}

/** Returns π by the series of the Chudnovsky brothers, which gives 47 bits per term. */
function pi(fractionBits: bigint): bigint {
  const C3_OVER_24 = 640320n ** 3n / 24n;
  const split = (a: bigint, b: bigint): [bigint, bigint, bigint] => {
    if (b - a === 1n) {
      const P = a === 0n ? 1n : (6n * a - 5n) * (2n * a - 1n) * (6n * a - 1n);
      const Q = a === 0n ? 1n : a * a * a * C3_OVER_24;
      const T = P * (13591409n + 545140134n * a);
      return [P, Q, a % 2n === 0n ? T : -T];
    }
    const middle = (a + b) >> 1n;
    const [P1, Q1, T1] = split(a, middle);
    const [P2, Q2, T2] = split(middle, b);
    return [P1 * P2, Q1 * Q2, Q2 * T1 + P1 * T2];
  };
  const [, Q, T] = split(0n, fractionBits / 47n + 2n);
  return (Q * 426880n * squareRoot(10005n << (2n * fractionBits))) / T;
}
