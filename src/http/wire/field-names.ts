/** Names of fields in answers: a client may have put anything there, a key or a control character too. */

/** A longer name may be a key, which has at least 32 characters. The longest known name has 22. */
const MAX_NAME = 24;

/** What is shown of a longer name: of a hexadecimal key of 128 bits, 32 bits. */
const SHOWN_OF_LONGER = 8;

/** Characters that draw nothing or move others about in a terminal or a page. */
const INVISIBLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

function cut(name: string): string {
  if (name.length <= MAX_NAME) return name;
  return `${name.slice(0, SHOWN_OF_LONGER).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A name in double quotes, short and with visible characters only. */
export function quoteName(name: string): string {
  return JSON.stringify(cut(name)).replace(
    INVISIBLE,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/** `#/name`: a JSON Pointer as a URI fragment (RFC 6901 §6), like those of field errors. */
export function bodyPointer(name: string): string {
  const escaped = cut(name).replaceAll('~', '~0').replaceAll('/', '~1');
  return `#/${encodeURIComponent(escaped.toWellFormed())}`;
}

/** `?name`. */
export function queryPointer(name: string): string {
  return `?${encodeURIComponent(cut(name).toWellFormed())}`;
}

/** The name that a pointer leads to. */
export function nameOf(pointer: string): string {
  return decode(pointer.replace(/^(?:#\/|\?)/, ''));
}

/** What a pointer stands for, as the subject of a sentence. */
export function labelOf(pointer: string): string {
  if (pointer === '#') return 'The body';
  if (pointer === '?') return 'The query';
  if (pointer.startsWith('?')) return `Query parameter ${quoteName(nameOf(pointer))}`;
  const [name = '', ...indices] = pointer.slice(2).split('/');
  return quoteName(decode(name) + indices.map((index) => `[${index}]`).join(''));
}

function decode(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
}
