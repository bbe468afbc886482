/** The fields for the tests to run and for their parameters, which few readers change. */
import {
  type BlockLength,
  resolveParameters,
  TEST_NAMES,
  type TestName,
  type TestParameters,
} from '../../../../packages/sp800-22/src/index.ts';
import { element } from './dom.ts';
import { control, folded, input, number, read } from './fields.ts';

/** Option of `phm assess`, member of the parameters, and label. */
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
] as const;

const BLOCKS = 'block-frequency-m';

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
      input(
        BLOCKS,
        'Block frequency: block lengths M (§2.2)',
        { type: 'text' },
        'empty: nist, recommended',
      ),
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
  const singles = SINGLE.map(([name, member]) => [member, read(form, name)] as const)
    .filter(([, text]) => text !== '')
    .map(([member, text]) => [member, Number(text)]);
  return { ...(blocks.length > 0 && { blockFrequencyM: blocks }), ...Object.fromEntries(singles) };
}

function blockLengths(form: HTMLFormElement): BlockLength[] {
  const words = read(form, BLOCKS)
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  return words.map((word) => (word === 'nist' || word === 'recommended' ? word : Number(word)));
}

/** Marks the fields that the suite refuses for sequences of `bits` bits. */
export function checkParameters(form: HTMLFormElement, bits: number): void {
  const { blockFrequencyM, ...singles } = chosenParameters(form);
  mark(form, BLOCKS, bits, blockFrequencyM ? { blockFrequencyM } : {});
  for (const [name, member] of SINGLE) {
    const value = singles[member];
    mark(form, name, bits, value === undefined ? {} : { [member]: value });
  }
  const [first] = form.querySelectorAll<HTMLInputElement>('[name="test"]');
  const isNone = chosenTests(form).length === 0 && read(form, 'supplements') === '';
  first?.setCustomValidity(isNone ? 'Choose a test.' : '');
}

function mark(form: HTMLFormElement, name: string, bits: number, parameters: TestParameters): void {
  const field = control(form, name);
  field.setCustomValidity('');
  try {
    resolveParameters(bits, parameters);
  } catch (error) {
    field.setCustomValidity((error as Error).message);
  }
}

/** Returns the options of `phm assess` for what was changed. */
export function parameterWords(form: HTMLFormElement): string[] {
  const tests = chosenTests(form);
  return [
    ...(tests.length === TEST_NAMES.length ? [] : tests.map((name) => `--test ${name}`)),
    ...blockLengths(form).map((length) => `--${BLOCKS} ${length}`),
    ...SINGLE.flatMap(([name]) => {
      const text = read(form, name);
      return text === '' ? [] : [`--${name} ${text}`];
    }),
  ];
}
