/**
 * Checks of what callers give: one sentence says what was expected and what came, `"bits" expected …, got …`. A value of
 * another type is a `TypeError`, one out of range a `RangeError`. `undefined` is an option that was left out.
 */

/** Throws unless the value is allowed. */
export type Check = (name: string, value: unknown) => void;

/** The check of every member of an options object. */
export type Members<Options> = { readonly [Name in keyof Options]-?: Check };

/** Longest text of a caller that a message repeats. */
const QUOTED_CHARACTERS = 40;

/** Names that differ in so many letters, and in a third of them at most, are taken for misspelt. */
const MISSPELT_LETTERS = 2;

/** Returns what a value is: itself, or the kind of a list or an object. */
export function described(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return `${value}n`;
  return kindOf(value);
}

/** Returns the kind of a value that was given for bytes: it may be secret. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== 'object') return typeof value;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return named(classOf(value));
}

function quoted(text: string): string {
  const isLong = text.length > QUOTED_CHARACTERS;
  return isLong ? `a string of ${text.length} characters` : JSON.stringify(text);
}

function named(name: string): string {
  if (name === 'Object') return 'an object';
  return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`;
}

/** A proxy or a getter may throw. */
function classOf(value: object): string {
  try {
    const { constructor: of } = value;
    const name: unknown = typeof of === 'function' ? of.name : '';
    return typeof name === 'string' && /^\w{1,40}$/.test(name) ? name : 'Object';
  } catch {
    return 'Object';
  }
}

/** Returns the error of a value of another type. */
export function wrongType(name: string, expected: string, value: unknown): TypeError {
  return new TypeError(`"${name}" expected ${expected}, got ${described(value)}`);
}

/** Returns the error of a value out of range. */
export function outOfRange(name: string, expected: string, value: unknown): RangeError {
  return new RangeError(`"${name}" expected ${expected}, got ${described(value)}`);
}

/** Throws unless `value` is an integer within [minimum, maximum]. `source` says who sets these bounds. */
export function assertInteger(
  name: string,
  value: unknown,
  minimum: number,
  maximum: number,
  source = '',
): asserts value is number {
  if (Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum) return;
  const cited = source && ` (${source})`;
  const expected = `an integer from ${minimum} to ${maximum}${cited}`;
  if (typeof value !== 'number') throw wrongType(name, expected, value);
  throw outOfRange(name, expected, value);
}

/** Throws unless `value` is a number that `isAllowed`, which is false for NaN. */
export function assertNumber(
  name: string,
  value: unknown,
  expected: string,
  isAllowed: (value: number) => boolean,
): asserts value is number {
  if (typeof value !== 'number') throw wrongType(name, expected, value);
  if (!isAllowed(value)) throw outOfRange(name, expected, value);
}

/** Throws unless `value` is a `Uint8Array`, of this realm or another. */
export function assertUint8Array(
  name: string,
  value: unknown,
  elements = '',
): asserts value is Uint8Array {
  if (value instanceof Uint8Array || Object.prototype.toString.call(value) === UINT8_ARRAY) return;
  const advice = hasBytes(value)
    ? ': give "new Uint8Array(buffer)"'
    : ArrayBuffer.isView(value)
      ? ': give "new Uint8Array(it.buffer, it.byteOffset, it.byteLength)"'
      : Array.isArray(value)
        ? ': give "Uint8Array.from(array)"'
        : '';
  throw new TypeError(`"${name}" expected Uint8Array${elements}, got ${kindOf(value)}${advice}`);
}

const UINT8_ARRAY = '[object Uint8Array]';

function hasBytes(value: unknown): boolean {
  return /^\[object (?:Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(value));
}

/** Throws unless `value` is an array of numbers that `isAllowed`, also where it has no element. */
export function assertNumbers(
  name: string,
  value: unknown,
  expected: string,
  isAllowed: (value: number) => boolean,
): asserts value is readonly number[] {
  if (!Array.isArray(value)) throw wrongType(name, `an array: ${expected}`, value);
  for (const one of value as readonly unknown[]) {
    if (typeof one !== 'number') throw wrongType(name, expected, one);
    if (!isAllowed(one)) throw outOfRange(name, expected, one);
  }
}

/** Throws unless `value` is one of the names: `TypeError` for what is no text. */
export function assertName(name: string, value: unknown, choices: readonly string[]): void {
  if (typeof value === 'string' && choices.includes(value)) return;
  const list = choices.map((choice) => `"${choice}"`);
  const expected = list.length > 1 ? `${list.slice(0, -1).join(', ')} or ${list.at(-1)}` : list[0];
  if (typeof value !== 'string') throw wrongType(name, expected, value);
  throw outOfRange(name, expected, value);
}

/** Throws unless `value` is a list of the names. */
export function assertNames(name: string, value: unknown, choices: readonly string[]): void {
  const expected = `names from ${choices.join(', ')}`;
  if (!Array.isArray(value)) throw wrongType(name, `an array of ${expected}`, value);
  for (const one of value as readonly unknown[]) {
    if (typeof one !== 'string') throw wrongType(name, expected, one);
    if (!choices.includes(one)) throw new RangeError(`"${name}" expected ${expected}, got ${one}`);
  }
}

/** Throws unless `value` is an object that has these members. */
export function assertObject(name: string, value: unknown, ...members: readonly string[]): void {
  const expected =
    members.length === 0
      ? 'an object'
      : `an object with ${members.map((one) => `"${one}"`).join(', ')}`;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) throw wrongType(name, expected, value);
  const missing = members.find((member) => !(member in value));
  if (missing === undefined) return;
  throw new TypeError(
    `"${name}" expected ${expected}, got ${described(value)} without "${missing}"`,
  );
}

/** Throws unless `value` is a list of objects that have these members. */
export function assertRows(name: string, value: unknown, ...members: readonly string[]): void {
  if (!Array.isArray(value)) throw wrongType(name, 'an array', value);
  for (const one of value as readonly unknown[]) assertObject(`${name}[]`, one, ...members);
}

/** Throws unless the options are an object, and each of its members is known and allowed. */
export function assertOptions<Options extends object>(
  name: string,
  options: unknown,
  members: Members<Options>,
): asserts options is Options | undefined {
  if (options === undefined) return;
  assertObject(name, options);
  const given = options as Readonly<Record<string, unknown>>;
  // Also those that an object has from its prototype.
  for (const member in given) {
    if (!Object.hasOwn(members, member)) throw unknownMember(name, member, Object.keys(members));
    const value = given[member];
    if (value !== undefined) members[member as keyof Options](member, value);
  }
}

function unknownMember(name: string, member: string, known: readonly string[]): TypeError {
  const [nearest] = known
    .filter((one) => isMisspelt(member, one))
    .sort((a, b) => distance(member, a) - distance(member, b));
  const expected = nearest === undefined ? `members from ${known.join(', ')}` : `"${nearest}"`;
  return new TypeError(`"${name}" expected ${expected}, got ${quoted(member)}`);
}

/** Reports whether a name differs in case, in its end, or in a few letters. */
function isMisspelt(given: string, known: string): boolean {
  const [a, b] = [given.toLowerCase(), known.toLowerCase()];
  if (a.length > QUOTED_CHARACTERS) return false;
  const isShortened = a.length > MISSPELT_LETTERS && (b.startsWith(a) || a.startsWith(b));
  return isShortened || distance(a, b) <= Math.min(MISSPELT_LETTERS, Math.floor(b.length / 3));
}

/** Returns the letters to insert, leave out or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min(next[j] + 1, row[j + 1] + 1, row[j] + (a[i] === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length];
}

/** Reports whether a number is a probability. */
export function isProbability(value: number): boolean {
  return value >= 0 && value <= 1;
}

/** Returns a check. */
export function integer(minimum: number, maximum: number): Check {
  return (name, value) => assertInteger(name, value, minimum, maximum);
}

/** Returns a check. */
export function oneOf(...choices: readonly string[]): Check {
  return (name, value) => assertName(name, value, choices);
}

/** Returns a check that also takes `null`. */
export function orNull(check: Check): Check {
  return (name, value) => {
    if (value !== null) check(name, value);
  };
}

/** Returns a check of an options object within another. */
export function options<Options extends object>(members: Members<Options>): Check {
  return (name, value) => assertOptions(name, value, members);
}

/** What uses the value checks it, with bounds that depend on others. */
export const checkedLater: Check = () => {};

export const callback: Check = (name, value) => {
  if (typeof value !== 'function') throw wrongType(name, 'a function', value);
};

export const text: Check = (name, value) => {
  if (typeof value !== 'string') throw wrongType(name, 'a string', value);
};

export const flag: Check = (name, value) => {
  if (typeof value !== 'boolean') throw wrongType(name, 'true or false', value);
};
