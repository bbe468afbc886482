/**
 * Makes every character of a text visible. Text from a client, a database, a server or a file could otherwise move the
 * cursor, hide or forge lines, set a terminal's title or clipboard, or reverse the direction of writing.
 */

/**
 * Control characters (C0, DEL, C1), format characters (direction marks, zero-width characters, tags), separators of lines
 * and paragraphs, lone surrogates, and whatever else Unicode displays as nothing.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Most texts: nothing in them needs the slower search. */
const ASCII = /^[\x20-\x7e]*$/;

/**
 * Returns the text with each character that acts on a reader instead of being read as `\u` and four digits. A line end is
 * such a character. JSON stays JSON with the same value, because there these characters occur in strings only.
 */
export function visible(text: string): string {
  return ASCII.test(text) ? text : text.replace(UNSEEN, escaped);
}

/** Escapes one line of JSON, and keeps the line end. */
export function visibleLine(line: string): string {
  return line.endsWith('\n') ? `${visible(line.slice(0, -1))}\n` : visible(line);
}

/** Escapes a text of several lines and keeps its line ends. What is quoted in it must not bring line ends of its own. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, i) => {
    const unit = character.charCodeAt(i).toString(16).padStart(4, '0');
    return `\\u${unit}`;
  }).join('');
}
