/** Checks of the members of a JSON object from outside: exactly these members, each of an exact form. */
import { decodeBase64, decodeBase64Of } from './base64.ts';
import { FormatError, quoted, received } from './format-error.ts';

/** Checks the form of a value and returns it. `name` begins the message of the `FormatError`. */
export type Check<T> = (name: string, value: unknown) => T;

/** Accepts an object with exactly these members. */
export function object<T>(members: { readonly [K in keyof T]: Check<T[K]> }): Check<T> {
  const names = Object.keys(members) as (keyof T & string)[];
  return (name, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw mismatch(name, 'a JSON object', value);
    }
    const unknown = Object.keys(value).find((one) => !Object.hasOwn(members, one));
    if (unknown !== undefined)
      throw new FormatError(`${name} has an unknown member ${quoted(unknown)}`);
    const entries = names.map((member) => {
      if (!Object.hasOwn(value, member)) throw new FormatError(`${name} has no member "${member}"`);
      return [member, members[member](member, (value as T)[member])];
    });
    return Object.fromEntries(entries) as T;
  };
}

export function orNull<T>(check: Check<T>): Check<T | null> {
  return (name, value) => (value === null ? null : check(name, value));
}

export function list<T>(check: Check<T>, most: number): Check<readonly T[]> {
  return (name, value) => {
    if (!Array.isArray(value) || value.length > most) {
      throw mismatch(name, `a list of at most ${most}`, value);
    }
    return value.map((one) => check(`an item of ${name}`, one));
  };
}

/** Accepts what `check` does, unless `problemOf` finds something. It continues a sentence that begins with the name. */
export function unless<T>(check: Check<T>, problemOf: (value: T) => string | undefined): Check<T> {
  return (name, value) => {
    const checked = check(name, value);
    const problem = problemOf(checked);
    if (problem === undefined) return checked;
    throw new FormatError(`${name} ${problem}`);
  };
}

/** Accepts an object of one of these types, which its member `type` names. An unknown type is named before all else. */
export function typed<T extends { readonly type: string }>(
  types: {
    readonly [Type in T['type']]: Check<Extract<T, { readonly type: Type }>>;
  },
): Check<T> {
  const names = Object.keys(types) as T['type'][];
  const checks = types as Readonly<Record<string, Check<T>>>;
  return (name, value) => {
    const { type = names[0] } = (value ?? {}) as { readonly type?: unknown };
    if (typeof type === 'string' && Object.hasOwn(checks, type)) {
      return (checks[type] as Check<T>)(name, value);
    }
    throw mismatch('type', names.map((one) => `"${one}"`).join(' or '), type);
  };
}

export function literal<T extends string>(expected: T): Check<T> {
  return (name, value) => {
    if (value !== expected) throw mismatch(name, `"${expected}"`, value);
    return expected;
  };
}

/** Accepts text of this form. `expected` describes it. */
export function text(expected: string, form: RegExp): Check<string> {
  return (name, value) => {
    if (typeof value !== 'string' || !form.test(value)) throw mismatch(name, expected, value);
    return value;
  };
}

export function base64(bytes: number): Check<string> {
  return (name, value) => {
    if (typeof value !== 'string') throw mismatch(name, `base64 of ${bytes} bytes`, value);
    decodeBase64Of(bytes, name, value);
    return value;
  };
}

/** Accepts base64 of 1 to `most` bytes. */
export function base64UpTo(most: number): Check<string> {
  return (name, value) => {
    const length = typeof value === 'string' ? bytesOf(value) : 0;
    if (length === 0 || length > most) throw mismatch(name, `base64 of 1 to ${most} bytes`, value);
    return value as string;
  };
}

/** Returns the number of bytes in base64, or 0 for other text. */
function bytesOf(text: string): number {
  try {
    return decodeBase64(text).length;
  } catch (error) {
    if (error instanceof FormatError) return 0;
    throw error;
  }
}

/** Accepts a finite number from `min` to `max`. */
export function number(min: number, max: number, isValid = Number.isFinite): Check<number> {
  return (name, value) => {
    if (typeof value !== 'number' || !isValid(value) || value < min || value > max) {
      throw mismatch(name, `a number from ${min} to ${max}`, value);
    }
    return value;
  };
}

export function mismatch(name: string, expected: string, value: unknown): FormatError {
  return new FormatError(`${name}: expected ${expected}, got ${described(value)}`);
}

function described(value: unknown): string {
  if (typeof value === 'string') return received(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? `a list of ${value.length}` : 'an object';
}

export const origin: Check<string> = text(
  'the origin of a log',
  /^[^\p{White_Space}\p{Cc}\p{Surrogate}+]{1,255}$/u,
);
export const time: Check<string> = text(
  'a time such as 2026-01-31T12:00:00.000+00:00',
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\+00:00$/,
);
export const word: Check<string> = text(
  'a word of lower-case letters, digits, "-" and "_"',
  /^[a-z0-9][a-z0-9_-]{0,63}$/,
);

export const keyId: Check<string> = text('a key ID such as phm_1', /^phm_[1-9][0-9]{0,38}$/);
