/** Compares the kernels with the plain suite on long sequences, and on many. */
import { test } from 'node:test';
import { TEST_NAMES } from '#sp800-22';
import { aesStream, assertAgree, STRUCTURED } from '../sp800-22/differential.ts';
import { expansion } from '../sp800-22/sequences.ts';
import { packBits } from '../sp800-22/spectra.ts';
import { sized } from '../support/run/campaign.ts';

const WITHOUT_DFT = TEST_NAMES.filter((name) => name !== 'dft');

// The block length of the universal test changes at 2,068,480, 4,654,080 and 10,342,400 bits.
const LENGTHS = sized({
  sample: [2_068_479, 2_068_480],
  full: [2 ** 21, 2_068_479, 2_068_480, 2 ** 22 + 5, 4_654_080, 2 ** 23, 10_342_400, 2 ** 24],
});

/** Random sequences of each kind. */
const SEEDS = sized({ sample: 6, full: 60 });
const RANDOM_LENGTHS = sized({ sample: 15, full: 150 });

/** The longest sequence of each structure. */
const LONGEST = sized({ sample: 2 ** 22, full: 2 ** 24 });

for (const n of LENGTHS) {
  test(`kernels and plain suite agree on ${n} bits`, () => {
    assertAgree('random', aesStream(n, (n >>> 3) + 2), n, { offsetBits: n % 5 });
  });
}

for (const name of ['pi', 'e', 'sqrt2', 'sqrt3'] as const) {
  test(`kernels and plain suite agree on 10^6 bits of ${name} with the constants of the NIST program`, () => {
    assertAgree(name, packBits(expansion(name, 1_000_000)), 1_000_000, { constants: 'nist' });
  });
}

for (const [name, make] of Object.entries(STRUCTURED)) {
  test(`kernels and plain suite agree on ${LONGEST}, 2^20 and 1,000,003 bits of ${name}`, () => {
    assertAgree(name, make(LONGEST / 8), LONGEST, { only: WITHOUT_DFT });
    assertAgree(name, make(2 ** 17), 2 ** 20);
    assertAgree(name, make(125_001), 1_000_003, { only: WITHOUT_DFT });
  });
}

test(`kernels and plain suite agree on ${SEEDS} random sequences of 2^20 bits, all tests`, () => {
  for (let seed = 100; seed < 100 + SEEDS; seed++) {
    assertAgree(`seed ${seed}`, aesStream(seed, 2 ** 17), 2 ** 20);
  }
});

test(`kernels and plain suite agree on ${SEEDS} random sequences of 10^6 bits, all tests`, () => {
  for (let seed = 300; seed < 300 + SEEDS; seed++) {
    assertAgree(`seed ${seed}`, aesStream(seed, 125_000), 1_000_000);
  }
});

test(`kernels and plain suite agree on ${RANDOM_LENGTHS} random lengths up to 2^20`, () => {
  for (let seed = 500; seed < 500 + RANDOM_LENGTHS; seed++) {
    const n = aesStream(seed, 4).readUInt32BE() % 2 ** 20;
    assertAgree('random length', aesStream(seed, (n >>> 3) + 2), n, {
      offsetBits: seed % 8,
      only: WITHOUT_DFT,
    });
  }
});
