/** The form with the settings of a run. */

import { grouped } from '../../../../sp800-22/src/index.ts';
import { MAXIMUM_BITS } from '../../../src/index.ts';
import { columnsOf } from '../../../src/input/readers/columns.ts';
import { proposeNumbers } from '../../../src/input/readers/numbers.ts';
import { MAX_SAMPLE_BITS } from '../../../src/input/readers/numerals.ts';
import { FORMS, parseFormat } from '../../../src/input/readers/table.ts';
import { checkFields, MAX_FIELD_LENGTH, REPORT_FIELDS } from '../../../src/report/identity.ts';
import type { Recognised } from '../decode/recognise.ts';
import { COMMAND } from '../engine/build-facts.ts';
import { MAX_SAMPLES, MAX_WIDTH, type RunOptions, type Samples } from '../engine/messages.ts';
import { byId, element } from './dom.ts';
import { control, count, folded, input, number, read, select } from './fields.ts';
import {
  checkParameters,
  chosenParameters,
  chosenTests,
  parameterFields,
  parameterWords,
} from './parameters.ts';

export interface Opened {
  readonly file: File;
  readonly gzip: boolean;
  readonly recognised: Recognised;
  /** The first bytes, unpacked. */
  readonly head: Uint8Array;
}

export type Settings = RunOptions & {
  /** Samples for SP 800-90B; null for no estimate. */
  readonly samples: Samples | null;
  /** Bits of a sample, if they are chosen. */
  readonly width: number | null;
};

const DEFAULT_BITS = 2 ** 20;
/** The command line takes 15 digits. */
const MAXIMUM_OFFSET = 10 ** 15 - 1;

/** Of values that cannot be measured. */
const DEFAULT_WIDTH = 8;

/** Forms whose name has options that the reader writes as for `--format`, and those with fields for them. */
const WITH_TEXT: readonly string[] = ['integers', 'parts', 'packed', 'bits', 'npy', 'wav'];
const OF_NUMBERS: readonly string[] = ['csv', 'numbers'];

/** The choices of a form, as the value of the field and its label. What a gzip holds is chosen. */
const CHOICES: readonly (readonly [name: string, label: string])[] = FORMS.flatMap(
  ({ name, label }): (readonly [string, string])[] => {
    if (name === 'gzip') return [];
    const ofBinary = [
      [name, 'binary, most significant bit first'],
      ['binary:lsb', 'binary, least significant bit first'],
    ] as const;
    return name === 'binary' ? [...ofBinary] : [[name, label]];
  },
);

/** File bytes per bit of the input, roughly. */
const BYTES_PER_BIT: Readonly<Record<string, number>> = {
  ascii: 1,
  hex: 1 / 4,
  base64: 1 / 6,
  csv: 1 / 3,
  numbers: 1 / 3,
};

/** Shows the form for a file. Calls `onRun` when the reader starts a run. */
export function showSettings(opened: Opened, onRun: (settings: Settings) => void): void {
  const form = byId<HTMLFormElement>('form');
  const text = new TextDecoder().decode(opened.head);
  form.replaceChildren(...fieldsFor(opened, text));
  form.oninput = (event) => {
    const { name } = event.target as HTMLInputElement;
    showFields(form);
    if (name === 'encoding' || name === 'column') proposeWidth(form, text);
    if (name === 'encoding') {
      proposeSamples(form);
      proposeFormat(form);
    }
    update(opened, form);
  };
  // A field that the browser names must be open.
  form.addEventListener('invalid', unfold, true);
  form.onsubmit = (event) => {
    event.preventDefault();
    onRun(settingsOf(opened, form));
  };
  showFields(form);
  proposeWidth(form, text);
  proposeSamples(form);
  update(opened, form);
  byId('settings').hidden = false;
}

function unfold({ target }: Event): void {
  (target as HTMLElement).closest('details')?.setAttribute('open', '');
}

/** Fills in the bits of the largest value at the start of the file, and says so. */
function proposeWidth(form: HTMLFormElement, text: string): void {
  const encoding = read(form, 'encoding');
  if (encoding !== 'csv' && encoding !== 'numbers') return;
  const column = count(form, 'column') ?? 1;
  const measured =
    encoding === 'csv' ? columnsOf(text).columns[column - 1]?.width : proposeNumbers(text);
  const width = Math.min(measured ?? DEFAULT_WIDTH, MAX_SAMPLE_BITS);
  control(form, 'bitsPerValue').value = String(width);
  byId('bitsPerValue-hint').textContent = widthHint(measured ?? null);
}

function widthHint(measured: number | null): string {
  if (measured === null) return 'not measured: the file does not begin with whole numbers';
  return measured > MAX_SAMPLE_BITS
    ? `numbers at the start of the file need more than ${MAX_SAMPLE_BITS} bits, the maximum`
    : 'measured at the start of the file';
}

/** Chooses the samples of the format, unless the reader wants no estimate. */
function proposeSamples(form: HTMLFormElement): void {
  const samples = control<HTMLSelectElement>(form, 'samples');
  if (samples.value === '') return;
  const proposed: Samples = read(form, 'encoding') === 'ascii' ? 'bits' : 'whole';
  samples.value = proposed;
}

/** Fills in an example of the form. */
function proposeFormat(form: HTMLFormElement): void {
  const name = read(form, 'encoding');
  const row = FORMS.find((candidate) => candidate.name === name);
  if (!row || !WITH_TEXT.includes(name)) return;
  control(form, 'reading').value = row.example;
  byId('reading-hint').textContent = `${row.syntax}: ${row.reads}`;
}

/** Marks a form that there is not. */
function checkFormat(form: HTMLFormElement): void {
  const field = control(form, 'reading');
  field.setCustomValidity('');
  if (!WITH_TEXT.includes(read(form, 'encoding'))) return;
  try {
    parseFormat(field.value);
  } catch {
    field.setCustomValidity('There is no such form, or it has no such option.');
  }
}

/** Returns the name of the row that reads a format. */
function formOf(format: string | null): string {
  if (format === null) return '';
  if (format === 'binary:lsb') return format;
  return FORMS.find(({ parse }) => parse(format) !== null)?.name ?? '';
}

/** Returns the format as the command line takes it; null as long as none is chosen. */
function formatFor({ gzip }: Opened, form: HTMLFormElement): string | null {
  const name = read(form, 'encoding');
  if (name === '') return null;
  const width = count(form, 'bitsPerValue') ?? DEFAULT_WIDTH;
  const texts: Record<string, string> = {
    csv: `csv:${count(form, 'column') ?? 1}:${width}`,
    numbers: `numbers:${width}`,
  };
  const format = texts[name] ?? (WITH_TEXT.includes(name) ? read(form, 'reading') : name);
  return gzip ? `gzip:${format}` : format;
}

/** Shows the fields of the format. An invalid field that is hidden would forbid the run without a word. */
function showFields(form: HTMLFormElement): void {
  const encoding = read(form, 'encoding');
  for (const field of form.querySelectorAll<HTMLElement>('[data-for]')) {
    field.hidden = !field.dataset.for?.split(' ').includes(encoding);
    for (const input of field.querySelectorAll('input')) input.disabled = field.hidden;
  }
}

/** Shows what follows from the settings. */
function update(opened: Opened, form: HTMLFormElement): void {
  const encoding = read(form, 'encoding');
  const width = count(form, 'bitsPerValue') ?? DEFAULT_WIDTH;
  const whole = control<HTMLSelectElement>(form, 'samples').options[0];
  if (whole) whole.text = wholeText(encoding, width);
  checkFormat(form);
  byId('samples-hint').textContent = hintOn(form, encoding, width);
  // A length that is no number of bits marks its own field only.
  const { validity } = control(form, 'bits');
  checkParameters(form, validity.valid ? (count(form, 'bits') ?? 0) : 0);
  byId('command').textContent = commandFor(opened, form);
}

function wholeText(encoding: string, width: number): string {
  if (OF_NUMBERS.includes(encoding)) return `of values of ${width} bits`;
  return WITH_TEXT.includes(encoding) ? 'of samples' : 'of bytes';
}

/** Says how many samples the estimate takes, or why there is none. */
function hintOn(form: HTMLFormElement, encoding: string, width: number): string {
  const samples = read(form, 'samples');
  if (samples === '') return '';
  const isWide = OF_NUMBERS.includes(encoding) && samples === 'whole' && width > MAX_WIDTH;
  return isWide
    ? `no estimate: its samples have at most ${MAX_WIDTH} bits`
    : `of the first ${grouped(MAX_SAMPLES)}`;
}

function fieldsFor({ file, gzip, recognised }: Opened, text: string): Node[] {
  const encoding = formOf(recognised.format);
  const { columns, chosen } = columnsOf(text);
  // The reader names it if several can be the samples.
  const column = chosen === null ? {} : { value: chosen };
  const bitsHeld = file.size / (BYTES_PER_BIT[encoding] ?? 1 / 8);
  const row = FORMS.find(({ name }) => name === encoding);
  const isLong = gzip || bitsHeld >= DEFAULT_BITS;
  return [
    select(
      'encoding',
      gzip ? 'Format inside the gzip' : 'Format',
      [...(encoding === '' ? [['', 'choose a format'] as const] : []), ...CHOICES],
      encoding,
    ),
    onlyFor(
      WITH_TEXT.join(' '),
      input(
        'reading',
        'Form with its options',
        { type: 'text', value: recognised.format ?? '' },
        row ? `${row.syntax}: ${row.reads}` : '',
      ),
    ),
    onlyFor(
      'csv',
      number('column', 'Column', { min: 1, max: columns.length, required: 1, ...column }),
    ),
    onlyFor(
      'csv numbers',
      number(
        'bitsPerValue',
        'Bits per value',
        { min: 1, max: MAX_SAMPLE_BITS, value: DEFAULT_WIDTH },
        '',
      ),
    ),
    number(
      'bits',
      'Bits in a sequence',
      { min: 1, max: MAXIMUM_BITS, ...(isLong && { value: DEFAULT_BITS }) },
      'empty: the whole file is one sequence',
    ),
    number(
      'sequences',
      'Number of sequences',
      { min: 1, max: 2 ** 31 },
      'empty: as many as the file has',
    ),
    number('offset', 'Bits to skip', { min: 0, max: MAXIMUM_OFFSET, value: 0 }),
    select(
      'constants',
      'Constants',
      [
        ['exact', 'exact values'],
        ['nist', 'values of the NIST program'],
      ],
      'exact',
    ),
    select(
      'supplements',
      'Supplements, not part of SP 800-22',
      [
        ['', 'none'],
        ['all', 'autocorrelation, spectral peak, bytes'],
        ['thorough', 'these, and tests on long streams'],
      ],
      '',
    ),
    select(
      'samples',
      'Min-entropy by SP 800-90B',
      [
        ['whole', 'of bytes'],
        ['bits', 'of bits'],
        ['', 'do not estimate'],
      ],
      'whole',
      '',
    ),
    parameterFields(),
    folded(
      'Texts in the report',
      select(
        'pictures',
        'Pictures in the HTML',
        [
          ['', 'with the first bits'],
          ['omit', 'without bits'],
        ],
        '',
      ),
      element('div', { class: 'texts' }, ...REPORT_FIELDS.map(textField)),
    ),
    element(
      'div',
      { class: 'buttons' },
      element('button', { class: 'main', id: 'start' }, 'Run the tests'),
      element('code', { class: 'note command', id: 'command' }),
    ),
  ];
}

/** Marks a field that only these formats have. */
function onlyFor(encodings: string, field: HTMLElement): HTMLElement {
  field.dataset.for = encodings;
  return field;
}

function textField([name, label]: (typeof REPORT_FIELDS)[number]): HTMLElement {
  return input(name, label, { type: 'text', maxlength: MAX_FIELD_LENGTH });
}

function settingsOf(opened: Opened, form: HTMLFormElement): Settings {
  const bits = count(form, 'bits');
  const samples = read(form, 'samples');
  const isOfNumbers = OF_NUMBERS.includes(read(form, 'encoding'));
  return {
    format: formatFor(opened, form) ?? 'binary',
    width: isOfNumbers ? count(form, 'bitsPerValue') : null,
    constants: read(form, 'constants') === 'nist' ? 'nist' : 'exact',
    tests: chosenTests(form),
    parameters: chosenParameters(form),
    supplements: read(form, 'supplements') !== '',
    thorough: read(form, 'supplements') === 'thorough',
    report: checkFields(Object.fromEntries(textsOf(form))),
    omitBits: read(form, 'pictures') === 'omit',
    offset: count(form, 'offset') ?? 0,
    bits,
    sequences: bits === null ? 1 : count(form, 'sequences'),
    workers: navigator.hardwareConcurrency || 2,
    samples: samples === '' ? null : (samples as Samples),
  };
}

/** Returns the texts that are not empty. */
function textsOf(form: HTMLFormElement): [name: string, text: string][] {
  return REPORT_FIELDS.map(([name]): [string, string] => [name, read(form, name).trim()]).filter(
    ([, text]) => text !== '',
  );
}

/** Returns the command that gives the same files; empty for settings that do not run. */
function commandFor(opened: Opened, form: HTMLFormElement): string {
  const { file, recognised } = opened;
  const format = formatFor(opened, form);
  // Not `checkValidity`, which would open the folded fields.
  if (!form.matches(':valid') || format === null) return '';
  // The numbers and not the texts of the fields, which may be 1e4 or 010000.
  const bits = count(form, 'bits');
  const words = [
    `${COMMAND} assess`,
    shellWord(file.name.startsWith('-') ? `./${file.name}` : file.name),
  ];
  // Without the option, the command refuses what looks like another form.
  if (format !== 'binary' || recognised.format !== 'binary') {
    words.push('--format', shellWord(format));
  }
  const offset = count(form, 'offset') ?? 0;
  if (offset > 0) words.push(`--offset ${offset}`);
  if (bits !== null) words.push(`--bits ${bits} --sequences ${count(form, 'sequences') ?? 'all'}`);
  if (read(form, 'constants') === 'nist') words.push('--constants nist');
  words.push(...parameterWords(form));
  for (const [name, text] of textsOf(form)) words.push(`--${name}`, shellWord(text));
  if (read(form, 'pictures') === 'omit') words.push('--html report.html --omit-bits');
  return words.join(' ');
}

/** Quotes a word for a POSIX shell. */
function shellWord(word: string): string {
  return /^[\w./:+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
