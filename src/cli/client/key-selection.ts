/** Options that select keys by their records, for `phm keys list` and `phm keys revoke`. */

import type { Command } from 'commander';
import { CommandError } from '#platform/commands';
import type { KeyListQuery } from '../../../sdk/src/index.ts';
import { anyTime } from '../parse-time.ts';
import { collectLabel, type Labels } from './labels.ts';

export interface SelectionFlags {
  readonly label?: Labels;
  readonly apiKey?: string;
  readonly createdAfter?: number;
  readonly createdBefore?: number;
}

export function addSelectionOptions(command: Command): Command {
  return command
    .option('--label <name=value>', 'keys with this label; repeat it for several', collectLabel)
    .option('--api-key <id>', 'keys that this API key asked for: its ID, never the API key')
    .option(
      '--created-after <time>',
      'keys of this TIME or later, such as 2026-11-20T14:00Z',
      anyTime('--created-after'),
    )
    .option('--created-before <time>', 'keys before this TIME', anyTime('--created-before'));
}

/** Throws `CommandError` if no key can meet the options. */
export function selectionQuery(flags: SelectionFlags): KeyListQuery {
  const { label, apiKey, createdAfter, createdBefore } = flags;
  if ((createdBefore ?? Infinity) < (createdAfter ?? -Infinity)) {
    throw new CommandError('--created-before must not be earlier than --created-after', 2);
  }
  return {
    ...(label && { label: Object.entries(label).map(([name, value]) => `${name}:${value}`) }),
    ...(createdAfter !== undefined && { created_after: new Date(createdAfter).toISOString() }),
    ...(createdBefore !== undefined && { created_before: new Date(createdBefore).toISOString() }),
    ...(apiKey && { api_key_id: apiKey }),
  };
}
