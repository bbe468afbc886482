/** The tests of the suite: the table of `docs/statistical-tests.md`, with the parameters of the NIST program. */
import {
  CATALOGUE,
  EXCURSION_STATES,
  grouped,
  minimumBits,
  NIST_PARAMETERS,
  nonOverlappingTemplate,
  overlappingTemplate,
  resolveParameters,
  rowLabels,
  TEST_NAMES,
  type TestName,
  VARIANT_STATES,
} from '#sp800-22';
import { LONGEST_RUN_ROWS } from '../../../packages/sp800-22/src/constants.ts';
import { SUITE } from '../../../packages/sp800-22/src/suite.ts';
import { RANK_M } from '../../../packages/sp800-22/src/tests/rank.ts';
import { universalInitialBlocks } from '../../../packages/sp800-22/src/tests/universal.ts';
import { type Part, partOfPage, tableText } from './part.ts';

/** Of any length, long enough for a block: the parameters of the program do not follow from it. */
const N_BITS = 2 ** 20;
const PARAMETERS = resolveParameters(N_BITS, NIST_PARAMETERS);

/** Bits of no meaning: the statistics of a test name the parameters that it sets itself. */
const ANY_BITS = new Uint8Array(10_000);

/** The parameters of each test. */
const TAKES: Readonly<Record<TestName, () => string>> = {
  frequency: () => '',
  block_frequency: () => `M = ${PARAMETERS.blockFrequencyM}`,
  cumulative_sums: () => '',
  runs: () => '',
  longest_run: longestRunLengths,
  rank: () => `${RANK_M} × ${RANK_M}`,
  dft: () => '',
  non_overlapping_template: () => {
    const { m, N } = nonOverlappingTemplate(ANY_BITS, { m: PARAMETERS.templateM }).statistics;
    return `m = ${m}, N = ${N}`;
  },
  overlapping_template: () => {
    const { m, M, nu } = overlappingTemplate(ANY_BITS, { m: PARAMETERS.overlappingM }).statistics;
    return `m = ${m}, M = ${M}, K = ${[nu].flat().length - 1}`;
  },
  universal: () => `L by length, Q = ${universalInitialBlocks(0)} · 2^L`,
  approximate_entropy: () => `m = ${PARAMETERS.approximateEntropyM}`,
  random_excursions: () => range(EXCURSION_STATES),
  random_excursions_variant: () => range(VARIANT_STATES),
  serial: () => `m = ${PARAMETERS.serialM}`,
  linear_complexity: () => `M = ${PARAMETERS.linearComplexityM}`,
};

function longestRunLengths(): string {
  const lengths = LONGEST_RUN_ROWS.map(({ M }) => grouped(M)).reverse();
  return `M = ${lengths.slice(0, -1).join(', ')} or ${lengths.at(-1)} by length`;
}

function range(states: readonly number[]): string {
  return `x = −${-Math.min(...states)} … ${Math.max(...states)}`;
}

function needs(name: TestName): string {
  const { minimumCycles } = SUITE[name];
  const bits = grouped(minimumBits(name, PARAMETERS));
  return minimumCycles === undefined ? bits : `${bits}, J ≥ ${minimumCycles}`;
}

/** Returns the number of p-values. The page says what gives `block_frequency` more of them. */
function pValuesOf(name: TestName): string {
  const count = rowLabels(name, N_BITS, NIST_PARAMETERS).length;
  return name === 'block_frequency' ? `${count}, see [below](#parameters)` : String(count);
}

function rowOf(name: TestName): string[] {
  const { section, detects } = CATALOGUE[name];
  return [`\`${name}\``, section, detects, needs(name), TAKES[name](), pValuesOf(name)];
}

export function suiteParts(): Part[] {
  const head = ['Name', '§', 'Detects', 'Needs bits', 'Parameters', 'p-values'];
  const table = tableText(head, TEST_NAMES.map(rowOf));
  return [partOfPage('docs/statistical-tests.md', 'tests', table)];
}
