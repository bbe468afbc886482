/** `phm recipient show`: prints the thumbprint of a file, to compare it with the one that its owner states. */

import type { Command } from 'commander';
import { writeJson } from '#platform/commands';
import type { CliContext } from '../context.ts';
import { readEither, thumbprintText } from './recipient-file.ts';

const HELP = `
Standard output gets the thumbprint: base64 of the public key's SHA-256, as headers and receipts name the recipient.
Before you seal keys to the file, compare it with the one that the owner gives you through another channel.

Example:
  phm recipient show backup.recipient
`;

export function addRecipientShowCommand(recipient: Command, context: CliContext): void {
  recipient
    .command('show')
    .argument('<file>', 'file of "phm recipient new", public or secret')
    .description('print the thumbprint of a recipient')
    .option('--json', 'write suite and thumbprint as JSON')
    .addHelpText('after', HELP)
    .action((file: string, options: { json?: boolean }) => show(context, file, options));
}

async function show(
  context: CliContext,
  file: string,
  { json }: { json?: boolean },
): Promise<void> {
  const { suite, publicKey } = readEither(file);
  const thumbprint = await thumbprintText(publicKey);
  if (json) {
    writeJson(context, { suite, thumbprint });
    return;
  }
  context.out(`${thumbprint}\n`);
  context.err(`Suite: ${suite}\n`);
}
