/**
 * The modulation words of Prime Harmonic Modulation, version 1, with the symbols of
 * docs/prime-harmonic-modulation.md. The module receives phases and returns M(t); it never holds a
 * word of a carrier or of a key.
 */

/** θ_p for the eight primes in ascending order, big-endian. */
export const PHASES: usize = 0x1000;
/** M(t), the high 32-bit half before the low one. */
export const MASK: usize = 0x2000;
/** Capacity of `MASK` in words. They stay in the processor's nearest cache. */
export const MASK_WORDS: i32 = 512;

/**
 * ω_p = ⌊2^64 · frac(√p)⌋ for p = 2, 3, 5, 7, 11, 13, 17, 19: the initial hash values of SHA-512,
 * FIPS 180-4 §5.3.5.
 */
const OMEGA_2: u64 = 0x6a09e667f3bcc908;
const OMEGA_3: u64 = 0xbb67ae8584caa73b;
const OMEGA_5: u64 = 0x3c6ef372fe94f82b;
const OMEGA_7: u64 = 0xa54ff53a5f1d36f1;
const OMEGA_11: u64 = 0x510e527fade682d1;
const OMEGA_13: u64 = 0x9b05688c2b3e6c1f;
const OMEGA_17: u64 = 0x1f83d9abfb41bd6b;
const OMEGA_19: u64 = 0x5be0cd19137e2179;

/**
 * Writes M(t) = ⊕_p H_p(t) for `count` words from t = `first` on, with H_p(t) = θ_p + t·ω_p modulo
 * 2^64.
 */
export function fillMask(first: u32, count: i32): void {
  let h2 = harmonic(0, first, OMEGA_2);
  let h3 = harmonic(1, first, OMEGA_3);
  let h5 = harmonic(2, first, OMEGA_5);
  let h7 = harmonic(3, first, OMEGA_7);
  let h11 = harmonic(4, first, OMEGA_11);
  let h13 = harmonic(5, first, OMEGA_13);
  let h17 = harmonic(6, first, OMEGA_17);
  let h19 = harmonic(7, first, OMEGA_19);
  const end = MASK + (<usize>count << 3);
  for (let p = MASK; p < end; p += 8) {
    const word = h2 ^ h3 ^ h5 ^ h7 ^ h11 ^ h13 ^ h17 ^ h19;
    store<u64>(p, rotl<u64>(word, 32));
    h2 += OMEGA_2;
    h3 += OMEGA_3;
    h5 += OMEGA_5;
    h7 += OMEGA_7;
    h11 += OMEGA_11;
    h13 += OMEGA_13;
    h17 += OMEGA_17;
    h19 += OMEGA_19;
  }
}

@inline
function harmonic(index: usize, t: u32, omega: u64): u64 {
  return bswap<u64>(load<u64>(PHASES + (index << 3))) + <u64>t * omega;
}

/** Sets phases and words to zero. */
export function wipe(): void {
  memory.fill(PHASES, 0, 64);
  memory.fill(MASK, 0, <usize>MASK_WORDS << 3);
}
