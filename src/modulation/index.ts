/**
 * Stage 4 of 8. In: carrier words of stage 2 and one set of phases. Out: as many modulated words.
 * Standard: docs/prime-harmonic-modulation.md, version 1, our own. No entropy is claimed.
 */
export { PHASES_BYTES } from './kernel.ts';
export {
  DEFAULT_MODULATION,
  MODULATION_TYPES,
  type ModulationType,
  Modulator,
} from './modulator.ts';
export { MODULATION_SELF_TESTS, modulationSelfTest } from './self-test.ts';
