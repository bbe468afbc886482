/**
 * Wrong fields in words: what was expected and what came. A key or a proof may be anywhere in a
 * request, so only what cannot be one is shown: numbers and short strings where a field has a list of
 * values. Of `key` and `hash_proof`, and of the body as a whole, an answer names the type alone.
 */
import type { FastifyError } from 'fastify';
import type { FieldError } from '../../errors.ts';
import { labelOf, quoteName } from './field-names.ts';

type Issue = NonNullable<FastifyError['validation']>[number];

/** Longer strings are not shown. A key has at least 32 characters. */
const MAX_SHOWN = 24;

/** The message of a field that is required and not there. */
export const MISSING = 'is required';

/** What helps beyond a list of values. */
const ADVICE: Readonly<Record<string, string>> = {
  '#/entropy_source':
    '. An operator enables other sources with PHM_ENTROPY_SOURCES (docs/configuration.md)',
};

/** One error a field: where an enumeration fails, its list says more than the type it implies. */
export function toFieldErrors(
  issues: readonly Issue[],
  value: unknown,
  sign: '#' | '?',
): FieldError[] {
  const byPointer = new Map<string, FieldError>();
  for (const issue of issues) {
    const { keyword, instancePath, params } = issue;
    const missing = keyword === 'required' ? `/${String(params.missingProperty)}` : '';
    const path = `${instancePath}${missing}`;
    const pointer = sign === '#' ? `#${path}` : `?${path.slice(1)}`;
    if (byPointer.has(pointer) && keyword !== 'enum') continue;
    const message = describe(issue, pointer, valueAt(value, instancePath));
    byPointer.set(pointer, { pointer, message });
  }
  return [...byPointer.values()];
}

/** The first wrong field as a sentence, and how many more there are. */
export function summarize([first, ...others]: readonly FieldError[]): string {
  if (!first) return '';
  const end = /[?.]$/.test(first.message) ? '' : '.';
  const sentence = `${labelOf(first.pointer)} ${first.message}${end}`;
  if (others.length === 0) return sentence;
  const more =
    others.length === 1 ? '1 more field is wrong' : `${others.length} more fields are wrong`;
  return `${sentence} ${more}, see "errors".`;
}

/** What came, for a field that takes a list of values: short strings are shown. */
export function describeChoice(value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= MAX_SHOWN) {
    return `the string ${quoteName(value)}`;
  }
  return typeof value === 'number' ? String(value) : describeType(value);
}

function describe({ keyword, params, message }: Issue, pointer: string, value: unknown): string {
  switch (keyword) {
    case 'required':
      return MISSING;
    case 'enum': {
      // null stands for a field that is left out: that is no choice to offer.
      const allowed = (params.allowedValues as readonly unknown[]).filter((one) => one !== null);
      return `must be one of ${allowed.join(', ')}; got ${describeChoice(value)}${ADVICE[pointer] ?? ''}`;
    }
    case 'type':
      return describeWrongType(String(params.type).replace(/,null$/, ''), value, pointer);
    case 'maxLength':
      return `must have at most ${params.limit} characters; got ${describeType(value)}`;
    case 'maxItems':
      return `must have at most ${params.limit} items; got ${(value as unknown[]).length}`;
    default:
      return message ?? 'is not valid';
  }
}

function describeWrongType(type: string, value: unknown, pointer: string): string {
  if (pointer === '#') return `must be a JSON object; got ${describeType(value)}`;
  if (type === 'boolean') return `must be true or false; got ${describeChoice(value)}`;
  return `must be ${type === 'array' ? 'an array' : `a ${type}`}; got ${describeType(value)}`;
}

function describeType(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (value === '') return 'an empty string';
  if (typeof value === 'string') return `a string of ${value.length} characters`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The part of a value that a JSON Pointer leads to. */
function valueAt(value: unknown, path: string): unknown {
  const names = path.split('/').slice(1);
  return names.reduce((part: unknown, name) => Object(part)[name], value);
}
