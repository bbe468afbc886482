/**
 * Messages for wrong fields: the expected value and the value received. A key or a proof may be anywhere in a
 * request, so a message shows only what cannot be one: numbers, and short strings where a field has a list of
 * values. For `key`, `hash_proof` and the body as a whole it gives only the type.
 */
import type { FastifyError } from 'fastify';
import type { FieldError } from '../../errors.ts';
import { labelOf, quoteName } from './field-names.ts';

type Issue = NonNullable<FastifyError['validation']>[number];

/** Longest string that a message shows. A key has at least 32 characters. */
const MAX_SHOWN = 24;

/** Message for a missing required field. */
export const MISSING = 'is required';

/** Advice that follows the list of allowed values, by pointer. */
const ADVICE: Readonly<Record<string, string>> = {
  '#/entropy_source': '. Ask the operator for other sources (PHM_ENTROPY_SOURCES)',
};

/** Advice that follows the list of allowed values, by the value received. */
const ADVICE_ON_VALUE: ReadonlyMap<unknown, string> = new Map([
  ['hash_proof', '. The proof of a sealed key is inside "sealed_key"'],
  [
    'phm-recipient-key/v1',
    '. That file holds the private key, which must not leave its owner: make a new pair, and send the file ".recipient"',
  ],
]);

/** What a field with a pattern must be, by pointer. */
const FORMS: Readonly<Record<string, string>> = {
  '#/key_id': '"phm_" and a decimal number',
  '#/key_commitment': 'base64 of 32 bytes: 44 characters, the last of them "="',
};

/** Returns one error per field. A failed enumeration wins over a wrong type, because its list of values says more. */
export function toFieldErrors(
  issues: readonly Issue[],
  value: unknown,
  sign: '#' | '?',
): FieldError[] {
  const byPointer = new Map<string, FieldError>();
  for (const issue of telling(issues)) {
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

/** Returns the issues without those that say nothing of what was sent to a field that takes an object or a list. */
function telling(issues: readonly Issue[]): readonly Issue[] {
  const unions = issues.filter(({ keyword }) => keyword === 'anyOf');
  return unions.reduce((left, { instancePath }) => ofBranch(left, instancePath), issues);
}

/** Leaves out that the value at a path fits none of the forms, and, if it fails within one, that it has not the other. */
function ofBranch(issues: readonly Issue[], path: string): readonly Issue[] {
  const isForm = ({ keyword, instancePath }: Issue) =>
    instancePath === path && (keyword === 'anyOf' || keyword === 'type');
  const hasMore = issues.some(
    (one) => !isForm(one) && `${one.instancePath}/`.startsWith(`${path}/`),
  );
  return issues.filter((one) => !isForm(one) || (one.keyword === 'type' && !hasMore));
}

/** Returns a sentence about the first wrong field, with the number of the others. */
export function summarize([first, ...others]: readonly FieldError[]): string {
  if (!first) return '';
  const end = /[?.]$/.test(first.message) ? '' : '.';
  const sentence = `${labelOf(first.pointer)} ${first.message}${end}`;
  if (others.length === 0) return sentence;
  const more =
    others.length === 1 ? '1 more field is wrong' : `${others.length} more fields are wrong`;
  return `${sentence} ${more}, see "errors".`;
}

/** Describes the value received for a field with a list of values; shows short strings. */
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
      // null means that the field is left out, so it is no choice to offer.
      const allowed = (params.allowedValues as readonly unknown[]).filter((one) => one !== null);
      const advice = ADVICE[pointer] ?? ADVICE_ON_VALUE.get(value) ?? '';
      return `must be one of ${allowed.join(', ')}; got ${describeChoice(value)}${advice}`;
    }
    case 'type':
      return describeWrongType(String(params.type).replace(/,null$/, ''), value, pointer);
    case 'maxLength':
      return `must have at most ${params.limit} characters; got ${describeType(value)}`;
    case 'minimum':
    case 'maximum':
      return `must be at ${keyword === 'minimum' ? 'least' : 'most'} ${params.limit}; got ${describeChoice(value)}`;
    case 'pattern':
      return `must be ${FORMS[pointer] ?? params.pattern}; got ${describeType(value)}`;
    case 'minItems':
      return `must have at least ${params.limit} item; got ${(value as unknown[]).length}`;
    case 'maxItems':
      return `must have at most ${params.limit} items; got ${(value as unknown[]).length}`;
    default:
      return message ?? 'is not valid';
  }
}

function describeWrongType(type: string, value: unknown, pointer: string): string {
  if (pointer === '#') return `must be a JSON object; got ${describeType(value)}`;
  if (type === 'integer') {
    const got = typeof value === 'number' ? value : describeType(value);
    return `must be a whole number; got ${got}`;
  }
  if (type === 'object') return `must be an object; got ${describeType(value)}`;
  if (type === 'boolean') return `must be true or false; got ${describeChoice(value)}`;
  return `must be ${type === 'array' ? 'an array' : `a ${type}`}; got ${describeType(value)}`;
}

function describeType(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (value === '') return 'an empty string';
  if (typeof value === 'string')
    return `a string of ${value.length} character${value.length === 1 ? '' : 's'}`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Returns the part of a value at a JSON Pointer. */
function valueAt(value: unknown, path: string): unknown {
  const names = path.split('/').slice(1);
  return names.reduce((part: unknown, name) => Object(part)[name], value);
}
