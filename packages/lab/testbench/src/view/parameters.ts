/** The fields for the tests to run and for their parameters, which few readers change. */
import {
  type BlockLength,
  PARAMETER_TESTS,
  resolveParameters,
  SUPPLEMENT_NAMES,
  TEST_NAMES,
  type TestName,
  type TestParameters,
} from '../../../../sp800-22/src/index.ts';
import { element } from './dom.ts';
import { control, count, folded, input, number, read } from './fields.ts';

/** Option of `phm assess`, member of the parameters, label and default. */
const SINGLE = [
  ['template-length', 'templateM', 'Non-overlapping templates: bits m (§2.7)', 9],
  ['overlapping-template-length', 'overlappingM', 'Overlapping template: ones m (§2.8)', 9],
  ['linear-complexity-m', 'linearComplexityM', 'Linear complexity: block length M (§2.10)', 500],
  ['serial-m', 'serialM', 'Serial: bits of a pattern m (§2.11)', 16],
  [
    'approximate-entropy-m',
    'approximateEntropyM',
    'Approximate entropy: bits of a pattern m (§2.12)',
    10,
  ],
] as const satisfies readonly (readonly [string, keyof TestParameters, string, number])[];

const BLOCKS = 'block-frequency-m';
const BLOCKS_LABEL = 'Block frequency: block lengths M (§2.2)';

export function parameterFields(): HTMLElement {
  const tests = TEST_NAMES.map((name) =>
    element(
      'label',
      { class: 'choice' },
      element('input', { type: 'checkbox', name: 'test', value: name, checked: true }),
      name,
    ),
  );
  return folded(
    'Tests and parameters of SP 800-22',
    element(
      'fieldset',
      {},
      element('legend', {}, 'Tests'),
      element('div', { class: 'choices' }, ...tests),
    ),
    element(
      'div',
      { class: 'texts' },
      input(BLOCKS, BLOCKS_LABEL, { type: 'text' }, 'empty: nist, recommended'),
      ...SINGLE.map(([name, , label, standard]) => number(name, label, {}, `empty: ${standard}`)),
    ),
  );
}

/** Returns the chosen tests, in the order of the suite. */
export function chosenTests(form: HTMLFormElement): TestName[] {
  const chosen = new FormData(form).getAll('test');
  return TEST_NAMES.filter((name) => chosen.includes(name));
}

export function chosenParameters(form: HTMLFormElement): TestParameters {
  const blocks = blockLengths(form);
  const singles = SINGLE.map(([name, member]) => [member, count(form, name)] as const).filter(
    ([, value]) => value !== null,
  );
  return { ...(blocks.length > 0 && { blockFrequencyM: blocks }), ...Object.fromEntries(singles) };
}

function blockLengths(form: HTMLFormElement): BlockLength[] {
  const words = read(form, BLOCKS)
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  return words.map((word) => (word === 'nist' || word === 'recommended' ? word : Number(word)));
}

/** Marks the fields that the suite refuses for sequences of `bits` bits. Fields of tests that do not run are left out. */
export function checkParameters(form: HTMLFormElement, bits: number): void {
  const tests = chosenTests(form);
  const isUnused = (member: keyof TestParameters): boolean =>
    !tests.includes(PARAMETER_TESTS[member]);
  control(form, BLOCKS).disabled = isUnused('blockFrequencyM');
  for (const [name, member] of SINGLE) control(form, name).disabled = isUnused(member);
  const { blockFrequencyM, ...singles } = chosenParameters(form);
  mark(form, BLOCKS, bits, blockFrequencyM ? { blockFrequencyM } : {});
  for (const [name, member] of SINGLE) {
    const value = singles[member];
    mark(form, name, bits, value === undefined ? {} : { [member]: value });
  }
  const [first] = form.querySelectorAll<HTMLInputElement>('[name="test"]');
  const isNone = tests.length === 0 && read(form, 'supplements') === '';
  first?.setCustomValidity(isNone ? 'Choose a test.' : '');
}

function mark(form: HTMLFormElement, name: string, bits: number, parameters: TestParameters): void {
  const field = control(form, name);
  field.setCustomValidity('');
  try {
    resolveParameters(bits, parameters);
  } catch (error) {
    field.setCustomValidity(remedyOf((error as Error).message));
  }
}

/** Returns what the field may hold: the package names its own option, and the reader sees what the field holds. */
function remedyOf(message: string): string {
  return message.replace(/^"\w+" expected (.*), got .*$/, 'Use $1.');
}

/** Returns a message of the package with the name of the field that it is about. */
export function withFieldNames(message: string): string {
  const labels: Readonly<Record<string, string>> = {
    bits: 'Bits in a sequence',
    blockFrequencyM: BLOCKS_LABEL,
    ...Object.fromEntries(SINGLE.map(([, member, label]) => [member, label])),
  };
  return message.replace(/^"\w+"(?= expected)|(?<=: give )"\w+"$/, (word) => {
    const label = labels[word.slice(1, -1)];
    return label === undefined ? word : `"${label}"`;
  });
}

/** Returns the options of `phm assess` for what was changed. */
export function parameterWords(form: HTMLFormElement): string[] {
  return [
    ...testWords(form),
    ...blockLengths(form).map((length) => `--${BLOCKS} ${length}`),
    ...SINGLE.flatMap(([name]) => {
      const value = count(form, name);
      return value === null ? [] : [`--${name} ${value}`];
    }),
  ];
}

/** Without `--test` the command runs all tests, so that supplements alone must be named. */
function testWords(form: HTMLFormElement): string[] {
  const tests = chosenTests(form);
  const supplements = read(form, 'supplements');
  const thorough = supplements === 'thorough' ? ['--thorough'] : [];
  const all = supplements === 'all' ? ['--supplements'] : thorough;
  if (tests.length === TEST_NAMES.length) return all;
  const named = (names: readonly string[]): string[] => names.map((name) => `--test ${name}`);
  return tests.length === 0 ? [...named(SUPPLEMENT_NAMES), ...thorough] : [...named(tests), ...all];
}
