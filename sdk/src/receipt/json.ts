/** Reads the text of a receipt, or of a file that contains one. */
import { repeatedName } from '../json.ts';
import { plainText } from './text.ts';
import { FormatError, quoted } from './tlog.ts';

/**
 * Returns the value of a JSON text. Throws an `Error` whose message says what is wrong, also if an object has a member
 * twice: RFC 8785 §3.1 forbids it, because parsers differ in the value that they take.
 */
export function parseReceiptText(text: string): unknown {
  const json = plainText(text);
  const value = parseJson(json);
  const name = repeatedName(json);
  if (name === undefined) return value;
  throw new FormatError(`a JSON object has the member ${quoted(name)} twice`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FormatError('it is not JSON, or it was cut');
  }
}
