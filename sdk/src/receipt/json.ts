/** Reads the text of a receipt, or of a file that contains one. */
import { repeatedName } from '../json.ts';
import { FormatError, quoted } from './tlog.ts';

/** What UTF-16 looks like when it is read as UTF-8, with and without a byte order mark. */
const UTF_16 = /^(?:\ufffd|\0?\{\0)/;

/**
 * Returns the value of a JSON text. Throws an `Error` whose message says what is wrong, also if an object has a member
 * twice: RFC 8785 §3.1 forbids it, because parsers differ in the value that they take.
 */
export function parseReceiptText(text: string): unknown {
  const value = parseJson(text);
  const name = repeatedName(text);
  if (name === undefined) return value;
  throw new FormatError(`a JSON object has the member ${quoted(name)} twice`);
}

function parseJson(text: string): unknown {
  try {
    // RFC 8259 §8.1: a parser may ignore a byte order mark. Editors on Windows write one.
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw new FormatError(
      UTF_16.test(text) ? 'it is not UTF-8 text' : 'it is not JSON, or it was cut',
    );
  }
}
