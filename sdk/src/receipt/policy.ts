/** Reads a policy: c2sp.org/tlog-policy. */
import { parsed, UnreadableError } from './read.ts';
import { type Policy, parsePolicy } from './tlog.ts';
import type { Findings } from './verdict.ts';

/** Returns null and adds a problem if the text is not a policy. */
export function readPolicy({ problems }: Findings, text: string): Policy | null {
  try {
    return parsed('The policy cannot be read', () => parsePolicy(text));
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
    problems.push(error.message);
    return null;
  }
}
