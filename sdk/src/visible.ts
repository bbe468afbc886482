/** Makes every character of a text visible. */

/** Control and format characters, separators of lines, lone surrogates, and whatever else is displayed as nothing. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns the text with each character that acts on a reader or a terminal instead of being read as `\u{…}`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
