/**
 * The tests of SP 800-22 Rev. 1a, in the order of the NIST program, with their texts. What computes a test is its file in
 * tests/: a page that only shows results imports this one alone.
 */

interface TestTexts {
  readonly title: string;
  /** Section of the standard. */
  readonly section: string;
  /** The defect that the test detects. */
  readonly detects: string;
  /** Name of the test in the reports of the NIST program (STS 2.1.2). */
  readonly program: string;
}

export const CATALOGUE = {
  frequency: {
    title: 'Frequency',
    section: '2.1',
    detects: 'too many ones or zeros',
    program: 'Frequency',
  },
  block_frequency: {
    title: 'Block frequency',
    section: '2.2',
    detects: 'too many ones or zeros within blocks',
    program: 'BlockFrequency',
  },
  cumulative_sums: {
    title: 'Cumulative sums',
    section: '2.13',
    detects: 'drift of the random walk, from either end',
    program: 'CumulativeSums',
  },
  runs: {
    title: 'Runs',
    section: '2.3',
    detects: 'changing between 0 and 1 too often or seldom',
    program: 'Runs',
  },
  longest_run: {
    title: 'Longest run',
    section: '2.4',
    detects: 'runs of ones too long or short',
    program: 'LongestRun',
  },
  rank: {
    title: 'Matrix rank',
    section: '2.5',
    detects: 'linear dependence of substrings',
    program: 'Rank',
  },
  dft: {
    title: 'Spectrum (DFT)',
    section: '2.6',
    detects: 'periodic features',
    program: 'FFT',
  },
  non_overlapping_template: {
    title: 'Non-overlapping templates',
    section: '2.7',
    detects: 'a pattern too often or seldom',
    program: 'NonOverlappingTemplate',
  },
  overlapping_template: {
    title: 'Overlapping template',
    section: '2.8',
    detects: 'runs of nine ones too often or seldom',
    program: 'OverlappingTemplate',
  },
  universal: {
    title: 'Universal',
    section: '2.9',
    detects: 'compressibility',
    program: 'Universal',
  },
  approximate_entropy: {
    title: 'Approximate entropy',
    section: '2.12',
    detects: 'uneven continuation of patterns',
    program: 'ApproximateEntropy',
  },
  random_excursions: {
    title: 'Random excursions',
    section: '2.14',
    detects: 'uneven visits of the walk, per cycle',
    program: 'RandomExcursions',
  },
  random_excursions_variant: {
    title: 'Random excursions variant',
    section: '2.15',
    detects: 'uneven visits of the walk, in total',
    program: 'RandomExcursionsVariant',
  },
  serial: {
    title: 'Serial',
    section: '2.11',
    detects: 'uneven frequency of patterns',
    program: 'Serial',
  },
  linear_complexity: {
    title: 'Linear complexity',
    section: '2.10',
    detects: 'short feedback registers',
    program: 'LinearComplexity',
  },
} as const satisfies Readonly<Record<string, TestTexts>>;

export type TestName = keyof typeof CATALOGUE;

/** The names of the tests, in the order of the NIST program. */
export const TEST_NAMES: readonly TestName[] = Object.keys(CATALOGUE) as TestName[];
