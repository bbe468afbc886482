/** A new API key: its ID, and the only line that shows it. */

import { randomUUID } from 'node:crypto';
import { CommandError } from '#platform/commands';
import { visible } from '#platform/terminal';
import type { CliContext } from '../context.ts';

export function newApiKeyId(): string {
  return `key_${randomUUID().replaceAll('-', '')}`;
}

/** Writes the line with the API key. Throws `CommandError` with the remedy if it cannot be written. */
export async function showApiKey(
  context: CliContext,
  apiKeyId: string,
  line: string,
  remedy: string,
): Promise<void> {
  try {
    await context.outBytes(Buffer.from(`${visible(line)}\n`));
  } catch {
    throw new CommandError(
      [
        'the output cannot be written',
        `The API key ${apiKeyId} is valid but was not shown. ${remedy}`,
      ],
      1,
    );
  }
}
