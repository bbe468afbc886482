/** A new API key: its ID, and the only line that shows it. */
import { randomUUID } from 'node:crypto';
import { commandLine } from '../../launcher.ts';
import { CommandError } from '../command-error.ts';
import type { CliContext } from '../context.ts';

export function newApiKeyId(): string {
  return `key_${randomUUID().replaceAll('-', '')}`;
}

/** Writes the line with the API key. Throws `CommandError` if it cannot be written. */
export async function showApiKey(
  context: CliContext,
  apiKeyId: string,
  line: string,
): Promise<void> {
  try {
    await context.outBytes(Buffer.from(`${line}\n`));
  } catch {
    throw new CommandError(
      `the output cannot be written\nThe API key ${apiKeyId} is valid but was not shown. Revoke it and issue another: ` +
        commandLine(context, `key revoke ${apiKeyId}`),
      1,
    );
  }
}
