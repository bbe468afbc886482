/** What names a report: the fields that a laboratory fills in, and an identification made from input and settings. */
import { crc32 } from './crc32.ts';

/** The fields, in the order of the report. None is checked: they say what the caller says. */
export interface ReportFields {
  readonly laboratory?: string;
  readonly customer?: string;
  /** The customer's or the laboratory's own number of the order. */
  readonly reference?: string;
  readonly device?: string;
  /** Date of receipt of the item. */
  readonly received?: string;
  readonly operator?: string;
  readonly note?: string;
}

export const REPORT_FIELDS: readonly (readonly [name: keyof ReportFields, title: string])[] = [
  ['laboratory', 'Laboratory'],
  ['customer', 'Customer'],
  ['reference', 'Reference'],
  ['device', 'Device under test'],
  ['received', 'Item received'],
  ['operator', 'Operator'],
  ['note', 'Note'],
];

/** Longest field, in characters. */
export const MAX_FIELD_LENGTH = 500;

/** Control characters and line ends. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/**
 * Returns the fields in the order of the report, without the empty ones and other members. Throws `RangeError` if one is
 * longer than `MAX_FIELD_LENGTH` or has control characters.
 */
export function checkFields(fields: ReportFields): ReportFields {
  const given = REPORT_FIELDS.flatMap(([name]) => {
    const text = fields[name]?.trim() ?? '';
    if (text.length > MAX_FIELD_LENGTH || UNPRINTABLE.test(text)) {
      const found = UNPRINTABLE.test(text) ? 'a control character' : `${text.length} characters`;
      throw new RangeError(
        `"${name}" expected one line of at most ${MAX_FIELD_LENGTH} characters, got ${found}`,
      );
    }
    return text === '' ? [] : [[name, text] as const];
  });
  return Object.fromEntries(given);
}

/** Returns the names and values of the fields, for people. */
export function fieldRows(fields: ReportFields): [name: string, value: string][] {
  return REPORT_FIELDS.flatMap(([name, title]): [string, string][] => {
    const value = fields[name];
    return value === undefined ? [] : [[title, value]];
  });
}

/** Digits of the input's SHA-256 in an identification. */
const INPUT_DIGITS = 12;

/**
 * Returns the identification: the start of the input's SHA-256, and the CRC-32 of `facts` as JSON. Equal inputs, settings
 * and fields give the same one, at any time.
 */
export function reportId(sha256: string, facts: object): string {
  const settings = crc32(new TextEncoder().encode(JSON.stringify(facts)));
  return `${sha256.slice(0, INPUT_DIGITS)}-${settings.toString(16).padStart(8, '0')}`;
}
