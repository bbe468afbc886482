/** Quotes words for shell commands that users paste. */

import { visible } from './visible.ts';

/**
 * Quotes a word for a shell if it needs quotes. Characters that act on a reader, such as a line end, become the octal bytes
 * of `$'…'` (POSIX.1-2024 §2.2.4): the command then shows them and still names the same file.
 */
export function quote(word: string): string {
  if (/^[\w./:@%+=,-]+$/.test(word)) return word;
  if (visible(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${Array.from(word, inDollarQuotes).join('')}'`;
}

function inDollarQuotes(character: string): string {
  if (character === "'" || character === '\\') return `\\${character}`;
  if (visible(character) === character) return character;
  return Array.from(
    Buffer.from(character),
    (byte) => `\\${byte.toString(8).padStart(3, '0')}`,
  ).join('');
}
