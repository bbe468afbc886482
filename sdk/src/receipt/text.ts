/** One way to read the text of a file, whichever editor wrote it. */
import { FormatError } from './tlog.ts';

/** What UTF-16 looks like when it is read as UTF-8 or as Latin-1, with and without a byte order mark. */
const UTF_16 = /^(?:\ufffd|\xff\xfe|\xfe\xff|.?\0)/s;

/**
 * Returns a text without its byte order mark, and with `\n` at the end of its lines. Throws `FormatError` for a text that was
 * saved in UTF-16 and read as something else.
 */
export function plainText(text: string): string {
  if (UTF_16.test(text)) {
    throw new FormatError('it is not UTF-8 text, perhaps UTF-16: save it as UTF-8');
  }
  return text.replace(/^\ufeff/, '').replaceAll(/\r\n?/g, '\n');
}
