/** `phm open`: opens sealed keys with the recipient's private key. */

import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { CommandError, jsonLine, requireOwnDirectory, unwritable } from '#platform/commands';
import { writeFailure } from '#platform/files';
import { quote, visible } from '#platform/terminal';
import {
  type ExpectedRecipient,
  type OpenedSealedKey,
  openSealedKey,
  type RecipientKey,
  SealedKeyError,
} from '../../../sdk/src/index.ts';
import { wipe } from '../../bytes.ts';
import { commandLine } from '../../process/launcher.ts';
import type { CliContext } from '../context.ts';
import { requirePolicy } from '../log/policy-file.ts';
import { KeyFile } from './key-file.ts';
import {
  DEFAULT_VARIABLE,
  encodeKey,
  KEY_FORMATS,
  type KeyFormat,
  parseVariable,
} from './key-formats.ts';
import { readAnswer, readSealed, type SealedInput } from './open-input.ts';
import { unwrap } from './receipt-input.ts';
import { readRecipient, readRecipientKey } from './recipient-file.ts';

const HELP = `
FILE is what "phm generate --seal-to" wrote, or another answer of the service with a sealed key, of one key or of a batch;
- means standard input. Nothing is sent. The key is written as "phm generate" writes one. It must fit its commitment.

A sealed key does not show who sealed it. Its receipt does: with --policy, which names the logs that you accept, the
command checks the receipt in FILE or of --receipt, and writes no key without a valid one for this recipient.

A key can have several recipients, and its receipt names all. With --expect-recipient, the command writes no key that is
for anyone else. Your own file need not be named; given alone, it demands a key for you alone.

Exit code: 0 opened, 1 not opened, 2 wrong usage.

Examples:
  phm open data.sealed --recipient-key backup.recipient-key --output data.key
  phm open data.sealed --recipient-key backup.recipient-key --receipt data.receipt --policy keys.example.policy
  phm open link.sealed --recipient-key east.recipient-key --policy keys.example.policy --expect-recipient west.recipient
  phm open devices/*.sealed --recipient-key backup.recipient-key --output-dir opened
`;

interface OpenFlags {
  readonly recipientKey: string;
  readonly format: KeyFormat;
  readonly envName?: string;
  readonly output?: string;
  readonly outputDir?: string;
  readonly force?: boolean;
  readonly receipt?: string;
  readonly policy?: string;
  readonly expectRecipient?: readonly string[];
  readonly json?: boolean;
}

export function addOpenCommand(program: Command, context: CliContext): void {
  program
    .command('open')
    .argument('<file...>', 'files with sealed keys; - reads standard input')
    .description("open sealed keys with the recipient's private key")
    .requiredOption('--recipient-key <file>', 'secret file of "phm recipient new"')
    .addOption(
      new Option('--format <format>', 'form of the key, as of phm generate')
        .choices(KEY_FORMATS)
        .default('hex'),
    )
    .addOption(
      new Option(
        '--env-name <name>',
        `name for --format env; default: ${DEFAULT_VARIABLE}`,
      ).argParser(parseVariable),
    )
    .option('--output <file>', 'write to a new file instead of standard output')
    .option('--output-dir <dir>', 'write each key to a file of this directory, named by its key ID')
    .option('--force', 'replace existing files')
    .option('--receipt <file>', 'receipt of the key; default: the one in FILE')
    .option('--policy <file>', 'policy with the logs and witnesses that you accept')
    .addOption(
      new Option(
        '--expect-recipient <file>',
        'public file, or thumbprint, of another recipient of the key; repeat it for several. The key must be sealed to you and these alone',
      ).argParser((value: string, before: readonly string[] = []) => [...before, value]),
    )
    .addOption(
      new Option('--json', 'write key, hash_proof and opening as JSON').conflicts('format'),
    )
    .addHelpText('after', HELP)
    .action((files: string[], flags: OpenFlags) => open(context, files, flags));
}

/** A thumbprint as receipts write it. */
const THUMBPRINT = /^[A-Za-z0-9+/]{43}=$/;

function readExpected(value: string): ExpectedRecipient {
  return THUMBPRINT.test(value) ? value : readRecipient(value);
}

/** What all keys of a command share. */
interface Means {
  readonly recipientKey: RecipientKey;
  readonly policy: string | undefined;
  readonly expectRecipients: readonly ExpectedRecipient[] | undefined;
  readonly flags: OpenFlags;
}

async function open(
  context: CliContext,
  files: readonly string[],
  flags: OpenFlags,
): Promise<void> {
  const problem = usageProblem(files, flags);
  if (problem !== null) throw new CommandError(problem, 2);
  const recipientKey = readRecipientKey(flags.recipientKey);
  try {
    const policy =
      flags.policy === undefined ? undefined : await readAnswer(flags.policy, 'the policy');
    if (policy !== undefined) requirePolicy(visible(flags.policy ?? ''), policy);
    const inputs = await readInputs(context, files, flags);
    const expectRecipients = flags.expectRecipient?.map(readExpected);
    const means = { recipientKey, policy, expectRecipients, flags };
    await (flags.outputDir === undefined ? openOne : openAll)(context, inputs, means);
  } finally {
    wipe(recipientKey.privateKey);
  }
}

function usageProblem(files: readonly string[], flags: OpenFlags): string | null {
  const { format, envName, output, outputDir, force, receipt, policy, json } = flags;
  if (envName !== undefined && (format !== 'env' || json)) return '--env-name needs --format env';
  if (files.includes('-') && files.length > 1) return '- means standard input: give it alone';
  if (receipt !== undefined && policy === undefined) {
    return '--receipt needs --policy, which names the logs that you accept: phm log show --policy';
  }
  if (output !== undefined && outputDir !== undefined) {
    return '--output is for one key and --output-dir for several: use one of them';
  }
  for (const [name, path] of Object.entries({ '--output': output, '--output-dir': outputDir })) {
    if (path === '-' || path === '') return `${name} needs a name`;
  }
  if (force && output === undefined && outputDir === undefined) {
    return '--force needs --output or --output-dir';
  }
  const isTerminal = output === undefined && outputDir === undefined && process.stdout.isTTY;
  if (format === 'raw' && isTerminal && !json) {
    return '--format raw cannot be written to a terminal: use --output or a pipe';
  }
  return null;
}

/** Reads all files before the first key is opened. */
async function readInputs(
  context: CliContext,
  files: readonly string[],
  { receipt, outputDir, policy }: OpenFlags,
): Promise<SealedInput[]> {
  const inputs = (await Promise.all(files.map(readSealed))).flat();
  const [first] = inputs;
  if (!first) throw new CommandError('the answer has no keys', 1);
  if (inputs.length > 1 && outputDir === undefined) {
    throw new CommandError(`there are ${inputs.length} keys: write them with --output-dir DIR`, 2);
  }
  if (receipt === undefined) {
    if (policy !== undefined) for (const input of inputs) requireReceipt(context, input);
    return inputs;
  }
  if (inputs.length > 1) throw new CommandError('--receipt is for one key', 2);
  const text = await readAnswer(receipt, 'the receipt');
  return [{ ...first, receipt: unwrap(context, text).receipt }];
}

function requireReceipt(context: CliContext, { file, path, receipt }: SealedInput): void {
  if (receipt !== undefined && receipt !== null) return;
  throw new CommandError(
    `${file} has no receipt to check: give its file with --receipt, or get it by: ` +
      commandLine(context, `receipt get --sealed ${path === '-' ? 'FILE' : quote(path)}`),
    1,
  );
}

async function openOne(
  context: CliContext,
  [input]: readonly SealedInput[],
  means: Means,
): Promise<void> {
  const { output, force = false } = means.flags;
  const file = output === undefined ? undefined : KeyFile.claim(output, force);
  try {
    const opened = await openInput(input as SealedInput, means);
    await write(context, opened, file, means.flags);
    const { key_id: keyId, security_level: level } = opened.header;
    const place = file ? `, to ${file.path}` : '';
    context.err(`Opened the ${level}-bit key ${keyId}${place}. ${checked(opened)}\n`);
  } catch (error) {
    file?.discard();
    throw error;
  }
}

async function openAll(
  context: CliContext,
  inputs: readonly SealedInput[],
  means: Means,
): Promise<void> {
  const { outputDir = '', force = false } = means.flags;
  makeDirectory(outputDir);
  let last: OpenedSealedKey | undefined;
  for (const [i, input] of inputs.entries()) {
    try {
      last = await openInto(outputDir, force, input, context, means);
    } catch (error) {
      if (!(error instanceof CommandError) || i === 0) throw error;
      const before = i === 1 ? 'The first key is' : `The first ${i} keys are`;
      throw new CommandError([...error.lines, `${before} in ${outputDir}`], 1);
    }
  }
  const count = inputs.length;
  const keys = count === 1 ? '1 key' : `${count} keys`;
  if (last) context.err(`Opened ${keys}, to ${outputDir}. ${checked(last, count)}\n`);
}

async function openInto(
  directory: string,
  force: boolean,
  input: SealedInput,
  context: CliContext,
  means: Means,
): Promise<OpenedSealedKey> {
  const opened = await openInput(input, means);
  try {
    const file = KeyFile.claim(join(directory, `${opened.header.key_id}.key`), force);
    await write(context, opened, file, means.flags);
    return opened;
  } finally {
    wipe(opened.key, opened.opening);
  }
}

async function openInput(
  { file, sealed, receipt, nistReport }: SealedInput,
  { recipientKey, policy, expectRecipients }: Means,
): Promise<OpenedSealedKey> {
  try {
    return await openSealedKey(sealed, recipientKey, {
      ...(policy !== undefined && { policy, receipt }),
      ...(policy !== undefined && nistReport && { nistReport }),
      ...(expectRecipients && { expectRecipients }),
    });
  } catch (error) {
    if (!(error instanceof SealedKeyError)) throw error;
    throw new CommandError(`${file} was not opened: ${error.message}`, 1);
  }
}

/** Writes an opened key and wipes it. */
async function write(
  { outBytes }: CliContext,
  opened: OpenedSealedKey,
  file: KeyFile | undefined,
  { format, envName = DEFAULT_VARIABLE, json }: OpenFlags,
): Promise<void> {
  const { key: bytes, opening, hashProof, header } = opened;
  const { key_id, security_level, time } = header;
  const key = Buffer.from(bytes).toString('hex');
  const whole = {
    key_id,
    key,
    security_level,
    timestamp: time,
    hash_proof: hashProof,
    opening: Buffer.from(opening).toString('base64'),
  };
  const content = json ? Buffer.from(jsonLine(whole)) : encodeKey({ key, key_id }, format, envName);
  try {
    if (file) file.save(content);
    else await outBytes(content).catch(refuseLoss);
  } finally {
    wipe(content, bytes, opening);
  }
}

/** The key is not lost: its sealed form still has it. */
function refuseLoss(error: unknown): never {
  if (error instanceof CommandError) throw error;
  throw new CommandError(`the output cannot be written: ${writeFailure(error)}`, 1);
}

/** Says what was checked of one key or of several alike, and what was not. */
function checked({ verdict, recipients }: OpenedSealedKey, count = 1): string {
  const [it, the] = count === 1 ? ['it', 'the'] : ['each', 'its'];
  const others = recipients.length - 1;
  // The files of several keys may name different recipients.
  const also = others > 0 && count === 1 ? ` and ${others} other${others === 1 ? '' : 's'}` : '';
  return verdict === null
    ? `Checked: ${it} fits its commitment${also && `, and is for this recipient${also}`}. Not checked: who sealed it, because that takes a receipt and --policy.`
    : `Checked: ${it} fits its commitment, and by ${the} receipt the log of the policy recorded it for this recipient${also}.`;
}

function makeDirectory(path: string): void {
  requireOwnDirectory(path);
  try {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    throw unwritable(path, error);
  }
}
