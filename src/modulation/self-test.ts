/**
 * Health tests of the modulation: known answers of every type, and refusals. The answers are those of the path of keys:
 * each length at each first index of a key, modulated in place, and undone.
 */
import { KernelsError } from '#sp800-22/wasm';
import { hexToBytes } from '../bytes.ts';
import { PHASES_BYTES } from './kernel.ts';
import { MODULATION_TYPES, type ModulationType, Modulator } from './modulator.ts';

const CHECKS: readonly (readonly [name: string, check: () => boolean])[] = [
  ...MODULATION_TYPES.map(
    (type) => [`modulation: known answer, ${type}`, () => isKnownAnswer(type)] as const,
  ),
  ['modulation: refuses after destruction', refusesAfterDestruction],
];

/** The names of the health tests. */
export const MODULATION_SELF_TESTS: readonly string[] = CHECKS.map(([name]) => name);

/**
 * Runs every health test. A failure is a row with `passed: false`. Throws `KernelsError` if the
 * kernels are not built, because then nothing was tested.
 */
export function modulationSelfTest(): { name: string; passed: boolean }[] {
  return CHECKS.map(([name, check]) => ({ name, passed: succeeds(check) }));
}

function succeeds(check: () => boolean): boolean {
  try {
    return check();
  } catch (error) {
    if (error instanceof KernelsError) throw error;
    return false;
  }
}

function isKnownAnswer(type: ModulationType): boolean {
  return KNOWN_ANSWERS.every(({ phases, carrier, firstWord, lengthsBytes, modulated }) =>
    lengthsBytes.every((length) => {
      const modulator = new Modulator(type, hexToBytes(phases));
      const [from, to] = [carrier, modulated[type]].map((hex) => hex.slice(0, 2 * length));
      const bytes = hexToBytes(from);
      const inNewMemory = modulator.modulate(bytes, firstWord).toString('hex');
      modulator.modulateInPlace(bytes, firstWord);
      const inPlace = bytes.toString('hex');
      modulator.demodulateInPlace(bytes, firstWord);
      const undone = bytes.toString('hex');
      return inNewMemory === to && inPlace === to && undone === from;
    }),
  );
}

function refusesAfterDestruction(): boolean {
  const modulator = new Modulator('phase', Buffer.alloc(PHASES_BYTES));
  modulator.destroy();
  try {
    modulator.modulate(Buffer.alloc(8), 0);
  } catch {
    return true;
  }
  return false;
}

interface KnownAnswer {
  readonly phases: string;
  readonly carrier: string;
  readonly firstWord: number;
  /** Words are modulated one by one, so the answer for fewer words is the start of the answer for all. */
  readonly lengthsBytes: readonly number[];
  readonly modulated: Readonly<Record<ModulationType, string>>;
}

const KEY_LENGTHS_BYTES: readonly number[] = [16, 32, 48];

/** For keys: the vectors "path" of test/vectors/modulation/prime-harmonic-modulation.json. */
const PATH = {
  phases:
    'a092ca63688d842f8dd779e8145e5097fdb0cc1001fd22942831393682a5ab3cea7c5f3dcfe07e8a4e3de07c966b96d6fd32979ab0f9c53b0ff369262d1614ae',
  carrier:
    '038180066d5aea6221d3e898295583163045320747d476f01639501f6eeb3426829195f4c2b1f2777f186ca7be08dee4',
  lengthsBytes: KEY_LENGTHS_BYTES,
} as const;

const KNOWN_ANSWERS: readonly KnownAnswer[] = [
  {
    ...PATH,
    firstWord: 0,
    modulated: {
      phase:
        'adc5875656b58ebb30455e015da5764eb7441e9a81cd08bf1899ae03e94baf9873911d9cf0e3dd12d912e78bd1b80620',
      frequency:
        '0cdab5d4c4070300982955831621d3e89903a3ea3b781822858e5407dbbacd09563e4ef05232be98f186ca7be08dee47',
      amplitude:
        'b1c58756a94a4f3b336a9f319e46786eb7465ea50dedf53f24da4e3bf68bcfe473921e5cf50421dc2522f7d42db9b7a8',
      none: PATH.carrier,
    },
  },
  {
    ...PATH,
    firstWord: 16_384,
    modulated: {
      phase:
        '98ff5e930d194ebbb241b0746563364e5a3405cf30cbc8bf90aa4a65b68d6f9825179aebf4dd9d12dd3bd7e6e79f4620',
      frequency:
        '0cdab5d4c4070300982955831621d3e89903a3ea3b781822858e5407dbbacd09563e4ef05232be98f186ca7be08dee47',
      amplitude:
        '9f005e9bcd9e8f3bb5664184758c386e9ab669cfbef4353f9ccc6a9a47518fe42a17a513f91e61dc213c27e917a077a8',
      none: PATH.carrier,
    },
  },
  // The vectors of the same file in which t crosses 2^31.
  {
    phases:
      '924bc68ab48ed3298486f4dfa3ff576a4fd7d5815b31e41c072b72dc9db92679e3051608783cab39ded66133a549156fb5bfcb39585ffc1ba375b47d5bd08a41',
    carrier: '3aa909f87e008662d8106dac45feda5ed7c59229ad4b62f6be6b6b540a79710d',
    firstWord: 2_147_483_646,
    lengthsBytes: [32],
    modulated: {
      phase: '40675c2e2fadda720178f5e1dd0fb3693742027d2248ecdc421a8c5165a02f0c',
      frequency: '09f87e0086623aa92f6c0836d622ff6d2d8bdb5f1648a6b57cd6d6a814f2e21b',
      amplitude: 'b5775fcecfade272b17905f9def04395b84d227e3c4ef120badd52597a52cf0e',
      none: '3aa909f87e008662d8106dac45feda5ed7c59229ad4b62f6be6b6b540a79710d',
    },
  },
];
