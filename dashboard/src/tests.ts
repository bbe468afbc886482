/** The tests of SP 800-22 as the pages show them: their texts, in groups. */
import { CATALOGUE } from '../../packages/sp800-22/src/catalogue.ts';

interface TestText {
  readonly title: string;
  readonly section: string;
  readonly detects: string;
}

const TEXTS: Readonly<Record<string, TestText>> = CATALOGUE;

/** Where the pages say in other words what a test detects. Evidence has 148 templates, reports may have others. */
const DETECTS: Readonly<Record<string, string>> = {
  runs: 'too many or too few changes',
  longest_run: 'too long or too short runs of ones',
  non_overlapping_template: 'one of 148 patterns too often or too rarely',
  overlapping_template: 'runs of nine ones too often or too rarely',
};

/** Texts of the tests after modulation. They form a group of their own, because they do not judge the generator. */
export const MODULATION_TEXT = {
  title: 'The modulation',
  purpose:
    'Quick tests on the same bits after modulation look for defects of the modulation. They say nothing about the generator.',
} as const;

/** Returns the texts of a test. The title of an unknown test is its name. */
export function testText(name: string): TestText {
  const { title, section, detects } = TEXTS[name] ?? { title: name, section: '', detects: '' };
  return { title, section, detects: DETECTS[name] ?? detects };
}

const GROUPS: readonly { readonly title: string; readonly tests: readonly string[] }[] = [
  { title: 'Balance', tests: ['frequency', 'block_frequency', 'cumulative_sums'] },
  { title: 'Runs', tests: ['runs', 'longest_run'] },
  { title: 'Structure', tests: ['rank', 'dft', 'linear_complexity', 'universal'] },
  {
    title: 'Patterns',
    tests: ['non_overlapping_template', 'overlapping_template', 'serial', 'approximate_entropy'],
  },
  { title: 'Random walk', tests: ['random_excursions', 'random_excursions_variant'] },
];

export interface TestGroup<T> {
  readonly title: string;
  readonly items: readonly T[];
}

/** Sorts items into the groups of their tests. Items of tests without a group come last. */
export function groupByTest<T>(items: readonly T[], nameOf: (item: T) => string): TestGroup<T>[] {
  const known = GROUPS.map(({ title, tests }) => ({
    title,
    items: tests.flatMap((test) => items.filter((item) => nameOf(item) === test)),
  }));
  const grouped = GROUPS.flatMap(({ tests }) => tests);
  const others = items.filter((item) => !grouped.includes(nameOf(item)));
  return [...known, { title: 'Others', items: others }].filter((group) => group.items.length > 0);
}
