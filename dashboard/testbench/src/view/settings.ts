/** The form with the settings of a run. */
import { MAXIMUM_BITS } from '../../../../packages/sp800-22/src/assess/index.ts';
import {
  checkFields,
  MAX_FIELD_LENGTH,
  REPORT_FIELDS,
} from '../../../../packages/sp800-22/src/report/identity.ts';
import { proposeCsv } from '../decode/csv.ts';
import { ENCODINGS, type Encoding, type Recognised } from '../decode/recognise.ts';
import type { RunOptions } from '../engine/messages.ts';
import { byId, element } from './dom.ts';

export interface Opened {
  readonly file: File;
  readonly gzip: boolean;
  readonly recognised: Recognised;
  /** The first bytes, unpacked. */
  readonly head: Uint8Array;
}

export type Settings = RunOptions & {
  /** Bits of a sample for SP 800-90B; null for no estimate. */
  readonly bitsPerSymbol: 1 | 8 | null;
};

const DEFAULT_BITS = 2 ** 20;
const MAXIMUM_OFFSET = Number.MAX_SAFE_INTEGER;

const FORMATS: Readonly<Record<Encoding, string>> = {
  binary: 'binary, most significant bit first',
  ascii: 'digits 0 and 1',
  hex: 'hexadecimal, four bits per digit',
  base64: 'base64',
  csv: 'numbers in columns (CSV)',
};

/** File bytes per bit of the input, roughly. */
const BYTES_PER_BIT: Readonly<Record<Encoding, number>> = {
  binary: 1 / 8,
  ascii: 1,
  hex: 1 / 4,
  base64: 1 / 6,
  csv: 1 / 3,
};

/** Shows the form for a file. Calls `onRun` when the reader starts a run. */
export function showSettings(opened: Opened, onRun: (settings: Settings) => void): void {
  const form = byId<HTMLFormElement>('form');
  form.replaceChildren(...fieldsFor(opened));
  const update = (): void => {
    const isCsv = read(form, 'encoding') === 'csv';
    for (const field of form.querySelectorAll<HTMLElement>('[data-csv]')) field.hidden = !isCsv;
    byId('command').textContent = commandFor(opened, form);
  };
  form.oninput = update;
  form.onsubmit = (event) => {
    event.preventDefault();
    onRun(settingsOf(opened, form));
  };
  update();
  byId('settings').hidden = false;
}

function fieldsFor({ file, gzip, recognised, head }: Opened): Node[] {
  const { encoding } = recognised;
  const csv = proposeCsv(new TextDecoder('latin1').decode(head));
  const bitsHeld = file.size / BYTES_PER_BIT[encoding ?? 'binary'];
  const isLong = gzip || bitsHeld >= DEFAULT_BITS;
  return [
    select(
      'encoding',
      gzip ? 'Format inside the gzip' : 'Format',
      [
        ...(encoding === null ? [['', 'choose a format'] as const] : []),
        ...ENCODINGS.map((name) => [name, FORMATS[name]] as const),
      ],
      encoding ?? '',
    ),
    csvField(number('column', 'Column', { min: 1, max: csv.columns, value: csv.columns })),
    csvField(number('bitsPerValue', 'Bits per value', { min: 1, max: 32, value: csv.bits })),
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
      ],
      '',
    ),
    select(
      'symbols',
      'Min-entropy by SP 800-90B',
      [
        ['8', 'of bytes'],
        ['1', 'of bits'],
        ['', 'do not estimate'],
      ],
      encoding === 'ascii' || (encoding === 'csv' && csv.bits === 1) ? '1' : '8',
    ),
    element(
      'details',
      {},
      element('summary', {}, 'Texts in the report'),
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

function csvField(field: HTMLElement): HTMLElement {
  field.dataset.csv = '';
  return field;
}

type Choice = readonly [value: string, label: string];

function select(
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: string,
): HTMLElement {
  const options = choices.map(([value, text]) =>
    element('option', { value, selected: value === chosen }, text),
  );
  return field(
    name,
    label,
    element('select', { id: name, name, required: name === 'encoding' }, ...options),
  );
}

function number(
  name: string,
  label: string,
  limits: Readonly<Record<string, number>>,
  hint?: string,
): HTMLElement {
  const hintId = `${name}-hint`;
  const input = element('input', {
    type: 'number',
    id: name,
    name,
    step: 1,
    ...limits,
    'aria-describedby': hint && hintId,
  });
  const made = field(name, label, input);
  if (hint) made.append(element('span', { class: 'note', id: hintId }, hint));
  return made;
}

function textField([name, label]: (typeof REPORT_FIELDS)[number]): HTMLElement {
  const input = element('input', { type: 'text', id: name, name, maxlength: MAX_FIELD_LENGTH });
  return field(name, label, input);
}

function field(name: string, label: string, control: HTMLElement): HTMLElement {
  return element('div', { class: 'field' }, element('label', { for: name }, label), control);
}

function read(form: HTMLFormElement, name: string): string {
  return String(new FormData(form).get(name) ?? '');
}

function settingsOf({ gzip }: Opened, form: HTMLFormElement): Settings {
  const count = (name: string): number | null => {
    const text = read(form, name);
    return text === '' ? null : Number(text);
  };
  const bits = count('bits');
  const symbols = count('symbols');
  return {
    recipe: {
      gzip,
      encoding: read(form, 'encoding') as Encoding,
      column: count('column') ?? 1,
      bitsPerValue: count('bitsPerValue') ?? 8,
    },
    constants: read(form, 'constants') === 'nist' ? 'nist' : 'exact',
    supplements: read(form, 'supplements') !== '',
    report: checkFields(Object.fromEntries(textsOf(form))),
    offset: count('offset') ?? 0,
    bits,
    sequences: bits === null ? 1 : count('sequences'),
    workers: navigator.hardwareConcurrency || 2,
    bitsPerSymbol: symbols === 1 || symbols === 8 ? symbols : null,
  };
}

/** Returns the texts that are not empty. */
function textsOf(form: HTMLFormElement): [name: string, text: string][] {
  return REPORT_FIELDS.map(([name]): [string, string] => [name, read(form, name).trim()]).filter(
    ([, text]) => text !== '',
  );
}

/** Returns the command that gives the same files; empty for input that it cannot read. */
function commandFor({ file, gzip }: Opened, form: HTMLFormElement): string {
  const encoding = read(form, 'encoding');
  if (gzip || !['binary', 'ascii', 'hex'].includes(encoding)) return '';
  const bits = read(form, 'bits');
  const words = ['phm assess', shellWord(file.name.startsWith('-') ? `./${file.name}` : file.name)];
  if (encoding !== 'binary') words.push('--format', encoding);
  const offset = read(form, 'offset');
  if (Number(offset) > 0) words.push('--offset', offset);
  if (bits !== '') words.push('--bits', bits, '--sequences', read(form, 'sequences') || 'all');
  if (read(form, 'constants') === 'nist') words.push('--constants nist');
  if (read(form, 'supplements') !== '') words.push('--supplements');
  for (const [name, text] of textsOf(form)) words.push(`--${name}`, shellWord(text));
  return words.join(' ');
}

/** Quotes a word for a POSIX shell. */
function shellWord(word: string): string {
  return /^[\w./+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
