/** Reads a policy: c2sp.org/tlog-policy. */
import { parsed } from './read.ts';
import { plainText } from './text.ts';
import { type Policy, parsePolicy } from './tlog.ts';

/** Throws `UnreadableError` for a text that is not a policy. */
export function readPolicy(text: string): Policy {
  return parsed('The policy cannot be read', () => parsePolicy(plainText(text)));
}
