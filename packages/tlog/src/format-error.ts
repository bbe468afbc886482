/** Refusal of a text or bytes from outside. The message is one sentence: what was expected, and what came. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

const SHOWN_CHARACTERS = 60;

/** Returns a text in quotes for a message: shortened, and with control characters escaped. */
export function quoted(text: string): string {
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
  return JSON.stringify(shown);
}
