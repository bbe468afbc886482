/** `phm recipient new`: generates the key pair of a recipient. */

import { type Command, Option } from 'commander';
import { CommandError, writeJson } from '#platform/commands';
import {
  DEFAULT_SUITE,
  formatRecipient,
  formatRecipientKey,
  newRecipient,
  SEAL_SUITES,
  type SealSuiteName,
} from '#sealing';
import type { CliContext } from '../context.ts';
import { KeyFile } from './key-file.ts';
import { PUBLIC_ENDING, SECRET_ENDING, thumbprintText } from './recipient-file.ts';

const HELP = `
Writes NAME${PUBLIC_ENDING}, which callers seal keys to, and NAME${SECRET_ENDING}, which opens them. Only its
owner can read the second file: keep a copy of it, because without it no sealed key opens. Standard output gets the
thumbprint of the public key: base64 of its SHA-256, as headers and receipts name the recipient. Nothing is sent.

Examples:
  phm recipient new --output backup
  phm generate --seal-to backup.recipient --output data.sealed
  phm open data.sealed --recipient-key backup.recipient-key --output data.key
`;

interface NewFlags {
  readonly output: string;
  readonly suite: SealSuiteName;
  readonly force?: boolean;
  readonly json?: boolean;
}

export function addRecipientNewCommand(recipient: Command, context: CliContext): void {
  recipient
    .command('new')
    .description('generate a key pair, to which keys can be sealed')
    .requiredOption(
      '--output <name>',
      `name of both files, without ${PUBLIC_ENDING} and ${SECRET_ENDING}`,
    )
    .addOption(
      new Option('--suite <suite>', 'cipher suite; ML-KEM-1024 is for NIST category 5')
        .choices(SEAL_SUITES.map(({ name }) => name))
        .default(DEFAULT_SUITE),
    )
    .option('--force', 'replace existing files; what was sealed to the old key no longer opens')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', HELP)
    .action((flags: NewFlags) => newPair(context, flags));
}

async function newPair(context: CliContext, flags: NewFlags): Promise<void> {
  const { output, suite, json } = flags;
  if (/(^|\/)$/.test(output)) throw new CommandError('--output needs a name for the files', 2);
  const { secretFile, publicFile } = claimFiles(flags);
  let thumbprint: string;
  try {
    const pair = await newRecipient(suite);
    thumbprint = await thumbprintText(pair.publicKey);
    const secret = Buffer.from(formatRecipientKey(pair));
    pair.privateKey.fill(0);
    // First, because a key sealed to a public key without its private key is lost.
    saveSecret(secretFile, secret);
    publicFile.save(Buffer.from(formatRecipient(pair)));
  } catch (error) {
    secretFile.discard();
    publicFile.discard();
    throw error;
  }
  if (json) {
    writeJson(context, {
      suite,
      thumbprint,
      public_file: publicFile.path,
      secret_file: secretFile.path,
    });
    return;
  }
  context.out(`${thumbprint}\n`);
  context.err(
    `Wrote ${publicFile.path}, to give to callers, and ${secretFile.path}, to keep secret. Without the second file nothing opens ` +
      'that is sealed to the first.\n',
  );
}

/** Claims the names of both files, or of none. */
function claimFiles({ output, force = false }: NewFlags): {
  secretFile: KeyFile;
  publicFile: KeyFile;
} {
  const secretFile = KeyFile.claim(`${output}${SECRET_ENDING}`, force);
  try {
    return { secretFile, publicFile: KeyFile.claim(`${output}${PUBLIC_ENDING}`, force) };
  } catch (error) {
    secretFile.discard();
    throw error;
  }
}

function saveSecret(file: KeyFile, content: Buffer): void {
  try {
    file.save(content);
  } finally {
    content.fill(0);
  }
}
