/** Refusal of a text or bytes from outside. The message is one sentence: what was expected, and what came. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

const SHOWN_CHARACTERS = 60;

/** No secret of the service is as short. */
const HARMLESS_CHARACTERS = 24;

/** Returns a name in quotes for a message: shortened, and with control characters escaped. */
export function quoted(name: string): string {
  const shown = name.length > SHOWN_CHARACTERS ? `${name.slice(0, SHOWN_CHARACTERS)}…` : name;
  return JSON.stringify(shown);
}

/** Returns what came, for a message: a short text in quotes, of others the length, because a wrong file can hold a secret. */
export function received(text: string): string {
  if (text.length <= HARMLESS_CHARACTERS) return JSON.stringify(text);
  return `a text of ${[...text].length} characters`;
}
