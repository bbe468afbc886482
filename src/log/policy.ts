/** Policies that a log publishes and reads: https://c2sp.org/tlog-policy. */
import { type Policy, parsePolicy } from '#tlog';
import { checkKeyId, type LogKeys } from './keys.ts';

/** Parses a policy and checks the key IDs of its keys. Throws `FormatError`. */
export function openPolicy(text: string): Policy {
  const policy = parsePolicy(text);
  for (const { key } of [...policy.logs, ...policy.witnesses]) checkKeyId(key);
  return policy;
}

/**
 * Returns the policy for verifying receipts of a log. It takes witnesses, groups and quorum from `witnesses`;
 * without it, the quorum is `none`.
 *
 * A verifier accepts any one of the listed log keys. The Ed25519 key is therefore only in a comment: as a
 * listed key it would accept the forgery of a quantum computer.
 */
export function policyText(
  { origin, verifierKeys }: Pick<LogKeys, 'origin' | 'verifierKeys'>,
  witnesses: Policy | null = null,
): string {
  const lines = [
    `# ${origin}`,
    `# Ed25519 key, for the witness network: ${verifierKeys.ed25519}`,
    `log ${verifierKeys.mlDsa44}`,
    ...(witnesses === null ? ['quorum none'] : quorumLines(witnesses)),
  ];
  return `${lines.join('\n')}\n`;
}

function quorumLines({ witnesses, groups, quorum }: Policy): string[] {
  return [
    ...witnesses.map(({ name, key, url }) =>
      ['witness', name, key.text, ...(url === null ? [] : [url])].join(' '),
    ),
    ...groups.map(({ name, threshold, members }) =>
      ['group', name, threshold, ...members].join(' '),
    ),
    `quorum ${quorum}`,
  ];
}
