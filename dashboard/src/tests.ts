/** Titles and descriptions of the 15 tests of SP 800-22, in groups. */

interface TestText {
  readonly title: string;
  readonly section: string;
  readonly detects: string;
}

const TEXTS: Readonly<Record<string, TestText>> = {
  frequency: { title: 'Frequency', section: '2.1', detects: 'too many ones or zeros' },
  block_frequency: {
    title: 'Block frequency',
    section: '2.2',
    detects: 'too many ones or zeros within blocks',
  },
  cumulative_sums: {
    title: 'Cumulative sums',
    section: '2.13',
    detects: 'drift of the random walk, from either end',
  },
  runs: { title: 'Runs', section: '2.3', detects: 'too many or too few changes' },
  longest_run: {
    title: 'Longest run',
    section: '2.4',
    detects: 'too long or too short runs of ones',
  },
  rank: { title: 'Matrix rank', section: '2.5', detects: 'linear dependence of substrings' },
  dft: { title: 'Spectrum (DFT)', section: '2.6', detects: 'periodic features' },
  linear_complexity: {
    title: 'Linear complexity',
    section: '2.10',
    detects: 'short feedback registers',
  },
  universal: { title: 'Universal', section: '2.9', detects: 'compressibility' },
  non_overlapping_template: {
    title: 'Non-overlapping templates',
    section: '2.7',
    detects: 'one of 148 patterns too often or too rarely',
  },
  overlapping_template: {
    title: 'Overlapping template',
    section: '2.8',
    detects: 'runs of nine ones too often or too rarely',
  },
  serial: { title: 'Serial', section: '2.11', detects: 'uneven frequency of patterns' },
  approximate_entropy: {
    title: 'Approximate entropy',
    section: '2.12',
    detects: 'uneven continuation of patterns',
  },
  random_excursions: {
    title: 'Random excursions',
    section: '2.14',
    detects: 'uneven visits of the walk, per cycle',
  },
  random_excursions_variant: {
    title: 'Random excursions variant',
    section: '2.15',
    detects: 'uneven visits of the walk, in total',
  },
};

/** Texts of the tests after modulation. They form a group of their own, because they do not judge the generator. */
export const MODULATION_TEXT = {
  title: 'The modulation',
  purpose:
    'Quick tests on the same bits after modulation look for defects of the modulation. They say nothing about the generator.',
} as const;

/** Returns the texts of a test. The title of an unknown test is its name. */
export function testText(name: string): TestText {
  return TEXTS[name] ?? { title: name, section: '', detects: '' };
}

const GROUPS = [
  { title: 'Balance', tests: ['frequency', 'block_frequency', 'cumulative_sums'] },
  { title: 'Runs', tests: ['runs', 'longest_run'] },
  { title: 'Structure', tests: ['rank', 'dft', 'linear_complexity', 'universal'] },
  {
    title: 'Patterns',
    tests: ['non_overlapping_template', 'overlapping_template', 'serial', 'approximate_entropy'],
  },
  { title: 'Random walk', tests: ['random_excursions', 'random_excursions_variant'] },
] as const;

export interface TestGroup<T> {
  readonly title: string;
  readonly items: readonly T[];
}

/** Sorts items into the groups of their tests. Items of unknown tests come last. */
export function groupByTest<T>(items: readonly T[], nameOf: (item: T) => string): TestGroup<T>[] {
  const known = GROUPS.map(({ title, tests }) => ({
    title,
    items: tests.flatMap((test) => items.filter((item) => nameOf(item) === test)),
  }));
  const others = items.filter((item) => !(nameOf(item) in TEXTS));
  return [...known, { title: 'Others', items: others }].filter((group) => group.items.length > 0);
}
