/** Shows names of fields in responses. A client can send anything as a name, such as a key or a control character. */

/** Longest name shown in full: a longer one may be a key (at least 32 characters). The longest known name has 22. */
const MAX_NAME = 24;

/** Characters shown of a longer name: 32 bits of a hexadecimal key of 128 bits. */
const SHOWN_OF_LONGER = 8;

/** Characters that are invisible or that rearrange others in a terminal or a page. */
const INVISIBLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

function cut(name: string): string {
  if (name.length <= MAX_NAME) return name;
  return `${name.slice(0, SHOWN_OF_LONGER).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Returns a name in double quotes, shortened and with visible characters only. */
export function quoteName(name: string): string {
  return quote(cut(name));
}

function quote(text: string): string {
  return JSON.stringify(text).replace(
    INVISIBLE,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

/**
 * Returns `#/name`, or `#/within/name` for a field of the object `within`: a JSON Pointer as a URI fragment (RFC 6901
 * §6), as in field errors.
 */
export function bodyPointer(name: string, within?: string): string {
  const escaped = cut(name).replaceAll('~', '~0').replaceAll('/', '~1');
  const start = within === undefined ? '#/' : `#/${within}/`;
  return `${start}${encodeURIComponent(escaped.toWellFormed())}`;
}

/** Returns `?name`. */
export function queryPointer(name: string): string {
  return `?${encodeURIComponent(cut(name).toWellFormed())}`;
}

/** Returns the last name in a pointer. */
export function nameOf(pointer: string): string {
  return decode(pointer.replace(/^(?:#.*\/|\?)/, ''));
}

/** Names the target of a pointer, as the subject of a sentence. */
export function labelOf(pointer: string): string {
  if (pointer === '#') return 'The body';
  if (pointer === '?') return 'The query';
  if (pointer.startsWith('?')) return `Query parameter ${quoteName(nameOf(pointer))}`;
  const [name = '', ...parts] = pointer.slice(2).split('/');
  const inside = parts.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${cut(decode(part))}`));
  return quote(cut(decode(name)) + inside.join(''));
}

function decode(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
}
