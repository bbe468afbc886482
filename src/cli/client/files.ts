/** `phm encrypt`, `phm decrypt` and `phm reseal`: files under keys of their own. */

import type { Command } from 'commander';
import { CommandError, refuseForeignLink, untilInterrupted, unwritable } from '#platform/commands';
import { readFailure } from '#platform/files';
import { visible } from '#platform/terminal';
import {
  type DecryptOptions,
  decryptFile,
  EncryptedFileError,
  type OutputOptions,
  reseal,
  SealedKeyError,
  type WrittenFile,
} from '../../../sdk/src/index.ts';
import { wipe } from '../../bytes.ts';
import type { CliContext } from '../context.ts';
import { requirePolicy } from '../log/policy-file.ts';
import { addConnectionOptions, Connection, type ConnectionFlags } from './connection.ts';
import { collectLabel, type Labels } from './labels.ts';
import { readAnswer } from './open-input.ts';
import { readRecipient, readRecipientKey } from './recipient-file.ts';

const ENCRYPT_HELP = `
Encrypts FILE under a new key of its own, which the service generates and which is stored in the output, sealed to the recipient:
envelope encryption. FILE is not sent, and no answer of the service holds the key. The output is FILE.phm.

Examples:
  phm encrypt report.txt --to backup.recipient
  phm encrypt report.txt --to backup.recipient --policy keys.example.policy --label file=report
`;

const DECRYPT_HELP = `
Decrypts what "phm encrypt" or a client wrote. The output is FILE without .phm. It appears when all of it is authentic, or not
at all, and only its owner can read it. Nothing is sent.

Example:
  phm decrypt report.txt.phm --recipient-key backup.recipient-key
`;

const RESEAL_HELP = `
Seals the key of FILE to another recipient, and replaces FILE, or writes --output. The content is not decrypted. Nothing is sent.
The old recipient can still decrypt copies of the old file.

Example:
  phm reseal report.txt.phm --recipient-key old.recipient-key --to new.recipient
`;

/** What encryption adds to the name of a file. */
const SUFFIX = '.phm';

interface OutputFlags {
  readonly output?: string;
  readonly force?: boolean;
}

interface EncryptFlags extends OutputFlags, ConnectionFlags {
  readonly to: string;
  readonly policy?: string;
  readonly label?: Labels;
}

interface DecryptFlags extends OutputFlags {
  readonly recipientKey: string;
}

interface ResealFlags extends DecryptFlags {
  readonly to: string;
}

const FORCE = 'replace an existing output';
const RECIPIENT_KEY = 'secret file of "phm recipient new"';

export function addFileCommands(program: Command, context: CliContext): void {
  const encrypting = program
    .command('encrypt')
    .argument('<file>', 'file to encrypt')
    .description('encrypt a file under a key of its own')
    .requiredOption('--to <file>', 'public file of the recipient')
    .option('--output <file>', 'output; default: FILE.phm')
    .option('--force', FORCE)
    .option('--policy <file>', "encrypt only if the key's receipt is valid by this policy")
    .option('--label <name=value>', 'label of the key; repeat it for several', collectLabel);
  addConnectionOptions(encrypting, ENCRYPT_HELP).action((file: string, flags: EncryptFlags) =>
    encrypt(context, file, flags),
  );
  program
    .command('decrypt')
    .argument('<file>', 'encrypted file')
    .description('decrypt a file of phm encrypt')
    .requiredOption('--recipient-key <file>', RECIPIENT_KEY)
    .option('--output <file>', 'output; default: FILE without .phm')
    .option('--force', FORCE)
    .addHelpText('after', DECRYPT_HELP)
    .action((file: string, flags: DecryptFlags) => decrypt(context, file, flags));
  program
    .command('reseal')
    .argument('<file>', 'encrypted file')
    .description('seal the key of an encrypted file to another recipient')
    .requiredOption('--recipient-key <file>', RECIPIENT_KEY)
    .requiredOption('--to <file>', 'public file of the new recipient')
    .option('--output <file>', 'output; default: FILE, which is replaced')
    .option('--force', FORCE)
    .addHelpText('after', RESEAL_HELP)
    .action((file: string, flags: ResealFlags) => sealAgain(context, file, flags));
}

async function encrypt(context: CliContext, file: string, flags: EncryptFlags): Promise<void> {
  const to = readRecipient(flags.to);
  const policy =
    flags.policy === undefined ? undefined : await readAnswer(flags.policy, 'the policy');
  if (policy !== undefined) requirePolicy(visible(flags.policy ?? ''), policy);
  const { label: labels } = flags;
  const output = outputOf(file, flags, file && `${file}${SUFFIX}`);
  const options = { to, ...output, ...(policy && { policy }), ...(labels && { labels }) };
  const { path, header } = await explained(file, output, () =>
    new Connection(context, flags).ask((phm, signal) =>
      phm.encryptFile(file, { ...options, signal }),
    ),
  );
  const checked = policy === undefined ? '' : ' Its receipt is valid by the policy.';
  context.err(`Encrypted ${file} under the key ${header.key_id}, to ${path}.${checked}\n`);
}

async function decrypt(context: CliContext, file: string, flags: DecryptFlags): Promise<void> {
  const usual = file.endsWith(SUFFIX) ? file.slice(0, -SUFFIX.length) : '';
  const { path, header } = await withRecipientKey(file, flags, usual, (options) =>
    decryptFile(file, options),
  );
  context.err(`Decrypted ${file} with the key ${header.key_id}, to ${path}.\n`);
}

async function sealAgain(context: CliContext, file: string, flags: ResealFlags): Promise<void> {
  const to = readRecipient(flags.to);
  const force = flags.force ?? flags.output === undefined;
  const { path, header } = await withRecipientKey(file, { ...flags, force }, file, (options) =>
    reseal(file, { ...options, to }),
  );
  context.err(
    `Sealed the key ${header.key_id} of ${file} to the recipient ${header.thumbprint}, in ${path}.\n`,
  );
}

/** Does `work` with the private key and the output of the flags; `usual` is the output without `--output`. */
async function withRecipientKey(
  file: string,
  flags: DecryptFlags,
  usual: string,
  work: (options: DecryptOptions & OutputOptions) => Promise<WrittenFile>,
): Promise<WrittenFile> {
  const recipientKey = readRecipientKey(flags.recipientKey);
  try {
    const output = outputOf(file, flags, usual);
    return await explained(file, output, () =>
      untilInterrupted((signal) => work({ recipientKey, ...output, signal })),
    );
  } finally {
    wipe(recipientKey.privateKey);
  }
}

interface Output {
  readonly out: string;
  readonly overwrite: boolean;
}

/** Returns what the flags say of the output. `usual` is empty if the name of the file gives none. Throws `CommandError`. */
function outputOf(file: string, { output, force = false }: OutputFlags, usual: string): Output {
  const out = output ?? usual;
  if (file === '' || out === '') {
    throw new CommandError(`${file} does not end with ${SUFFIX}: name the output with --output`, 2);
  }
  refuseForeignLink(out);
  return { out, overwrite: force };
}

/** Turns the errors of the client into those of a command. */
async function explained(
  file: string,
  { out, overwrite }: Output,
  work: () => Promise<WrittenFile>,
): Promise<WrittenFile> {
  try {
    return await work();
  } catch (error) {
    const isRefused = error instanceof EncryptedFileError && error.code === 'output_exists';
    if (isRefused && !overwrite) {
      throw new CommandError(
        `${out} exists: name another with --output, or replace it with --force`,
        1,
      );
    }
    if (error instanceof EncryptedFileError || error instanceof SealedKeyError) {
      throw new CommandError(error.message, 1);
    }
    const { code, path, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    // Errors of open files name no path, and the others of an output may name its temporary file.
    if (path !== file && syscall !== 'read') throw unwritable(out, error);
    throw new CommandError(`${file} cannot be read: ${readFailure(error)}`, 1);
  }
}
