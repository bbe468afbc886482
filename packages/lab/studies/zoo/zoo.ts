/** All generators of the zoo. */
import { COMBINED } from './combined.ts';
import { CONGRUENTIAL } from './congruential.ts';
import type { ZooGenerator } from './generator.ts';
import { LAGGED } from './lagged.ts';
import { REGISTERS } from './registers.ts';
import { CONTROLS, COUNTERS, DEFECTS } from './sources.ts';

export const ZOO: readonly ZooGenerator[] = [
  ...CONGRUENTIAL,
  ...REGISTERS,
  ...LAGGED,
  ...COMBINED,
  ...COUNTERS,
  ...DEFECTS,
  ...CONTROLS,
];
