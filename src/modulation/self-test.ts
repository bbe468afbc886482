/** Health tests of the modulation: known answers of every type, and refusals. */
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
  const modulator = new Modulator(type, hexToBytes(PHASES));
  const modulated = modulator.modulate(hexToBytes(CARRIER), FIRST_WORD);
  return modulated.toString('hex') === KNOWN_ANSWERS[type];
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

// The vectors of test/vectors/modulation/prime-harmonic-modulation.json in which t crosses 2^31.
const PHASES =
  '924bc68ab48ed3298486f4dfa3ff576a4fd7d5815b31e41c072b72dc9db92679e3051608783cab39ded66133a549156fb5bfcb39585ffc1ba375b47d5bd08a41';
const FIRST_WORD = 2_147_483_646;
const CARRIER = '3aa909f87e008662d8106dac45feda5ed7c59229ad4b62f6be6b6b540a79710d';
const KNOWN_ANSWERS: Readonly<Record<ModulationType, string>> = {
  phase: '40675c2e2fadda720178f5e1dd0fb3693742027d2248ecdc421a8c5165a02f0c',
  frequency: '09f87e0086623aa92f6c0836d622ff6d2d8bdb5f1648a6b57cd6d6a814f2e21b',
  amplitude: 'b5775fcecfade272b17905f9def04395b84d227e3c4ef120badd52597a52cf0e',
  none: '3aa909f87e008662d8106dac45feda5ed7c59229ad4b62f6be6b6b540a79710d',
};
