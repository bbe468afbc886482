/** Reads policies, which say what the reader of a log trusts. */
import { CommandError } from '#platform/commands';
import { FormatError, type Policy, parsePolicy } from '#tlog';
import { openPolicy } from '../../log/index.ts';
import { readText } from '../read-bounded.ts';

/** Reads a policy. `name` says in messages where it is from. Throws `CommandError`: what is no policy decides on nothing. */
export function parseTrustedPolicy(name: string, text: string): Policy {
  return parseAs(name, () => openPolicy(text));
}

/** Throws `CommandError` unless the text is a policy, of any logs. `name` says in messages where it is from. */
export function requirePolicy(name: string, text: string): void {
  parseAs(name, () => parsePolicy(text));
}

function parseAs(name: string, parse: () => Policy): Policy {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new CommandError(`${name} is not a policy (c2sp.org/tlog-policy): ${error.message}`, 2);
  }
}

/** Most bytes of a policy file. */
const MAX_POLICY_BYTES = 2 ** 20;

export function readPolicyFile(path: string): string {
  return readText(path, 'the policy', MAX_POLICY_BYTES);
}
