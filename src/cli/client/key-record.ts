/** The record of a key, for people and as JSON. */
import { writeJson, writeTable } from '#platform/commands';
import type { KeyInfo } from '../../../sdk/src/index.ts';
import type { CliContext } from '../context.ts';
import { labelsText } from './labels.ts';

export function writeKey(context: CliContext, key: KeyInfo, asJson: boolean): void {
  if (asJson) {
    writeJson(context, key);
    return;
  }
  const { evidence } = key;
  const rows = [
    ['status', key.status],
    ['created', key.created_at],
    ['length', `${key.security_level} bits`],
    ['entropy source', key.source],
    ['modulation', key.modulation_type],
    [
      'evidence',
      evidence ? `${evidence.tests_passed} of ${evidence.total_tests} tests passed` : 'none',
    ],
    ['API key', key.api_key_id],
    ['sealed to', recipientsOf(key).join(', ') || 'no one: returned in plaintext'],
    ['delivery', key.delivery_id ?? 'none'],
    ['labels', labelsText(key.labels) || 'none'],
    ['expires', key.expires_at ?? 'never'],
    ['revoked', key.revoked_at ? `${key.revoked_at}: ${key.revocation_reason}` : 'no'],
    ['receipt', key.receipt_url ? `${context.launcher} receipt get ${key.key_id}` : 'none'],
  ];
  writeTable(context, [key.key_id, ''], rows);
}

/** An earlier service names only one. */
function recipientsOf({ sealed_to: first, recipients }: Partial<KeyInfo>): readonly string[] {
  return recipients ?? [first].flatMap((one) => one ?? []);
}
