/** Words of a command line that is shown to be pasted. */

/** Quotes a word for a shell if it has to be quoted. */
export function quote(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
