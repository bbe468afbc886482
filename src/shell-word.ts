/** Quotes words for shell commands that users paste. */

/** Quotes a word for a shell if it needs quotes. */
export function quote(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
