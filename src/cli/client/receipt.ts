/** `phm receipt`: verifies receipts offline, and gets them from a running service. */

import type { Command } from 'commander';
import { CommandError, writeJson } from '#platform/commands';
import { TextError } from '#platform/files';
import { visible } from '#platform/terminal';
import { NOT_YET_COSIGNED } from '#tlog';
import { type ReceiptVerdict, UnreadableError, verifyReceipt } from '../../../sdk/src/index.ts';
import type { CliContext } from '../context.ts';
import { readPolicyFile } from '../log/policy-file.ts';
import { decodeKey } from './key-formats.ts';
import { addReceiptGet } from './receipt-get.ts';
import {
  type Given,
  parseObject,
  readInput,
  readKeyBytes,
  readReceiptText,
  unwrap,
} from './receipt-input.ts';

const VERIFY_HELP = `
FILE has a receipt as the service returns it, the file of "phm generate --receipt", or an answer of "phm generate --json";
- means standard input. Nothing is sent. The verdict says what was shown and what was not.

--policy names the logs and witnesses that you accept. Get it once, from an operator you trust, and keep it: without it
nothing shows whose log this is, so the receipt is not valid. With key and opening the command also shows that the receipt
is for that key. They come from FILE, unless --key-file or --opening gives others. An opening that FILE lacks is taken from
the file of --key-file, if that is the JSON of "phm open --json".
Exit code: 0 valid, 1 not valid or not yet cosigned by the witnesses of the policy, 2 wrong usage or unreadable file.

Examples:
  phm generate --output data.key --receipt data.receipt
  phm receipt verify data.receipt --key-file data.key --policy keys.example.policy
`;

/** `onVerdict` gets the exit code of the verdict. */
export function addReceiptCommands(
  program: Command,
  context: CliContext,
  onVerdict: (exitCode: number) => void,
): void {
  const receipt = program
    .command('receipt')
    .description('verify receipts offline, and get them from a running service');
  receipt
    .command('verify')
    .argument('<file>', 'file with the receipt; - reads standard input')
    .description('verify a receipt offline')
    .option('--policy <file>', 'policy with the logs and witnesses that you accept')
    .option(
      '--key-file <file>',
      'file with the key, to check that the receipt is for it; default: the key in FILE',
    )
    .option(
      '--opening <base64>',
      'opening of the key, or @ and the name of a file with it, also that of "phm generate --receipt"; default: from FILE',
    )
    .option('--json', 'write the verdict as JSON')
    .addHelpText('after', VERIFY_HELP)
    .action(async (file: string, flags: VerifyFlags) => {
      onVerdict((await verify(context, file, flags)).valid ? 0 : 1);
    });
  addReceiptGet(receipt, context);
}

interface VerifyFlags {
  readonly policy?: string;
  readonly keyFile?: string;
  readonly opening?: string;
  readonly json?: boolean;
}

async function verify(
  context: CliContext,
  file: string,
  flags: VerifyFlags,
): Promise<ReceiptVerdict> {
  const text = await readReceiptText(file);
  const inFile = unwrap(context, text);
  const inKeyFile = flags.keyFile === undefined ? {} : readKey(flags.keyFile);
  const key = inKeyFile.key ?? inFile.key;
  const opening = readOpening(flags.opening) ?? inFile.opening ?? inKeyFile.opening;
  if (flags.opening !== undefined && key === undefined) {
    throw new CommandError('--opening needs --key-file: they are checked together', 2);
  }
  const policy = flags.policy === undefined ? undefined : readPolicyFile(flags.policy);
  const found = await verifyReceipt(text, {
    ...(policy !== undefined && { policy }),
    ...(key !== undefined && { key, opening }),
  }).catch((error) => {
    if (!(error instanceof UnreadableError)) throw error;
    throw new CommandError(error.message, 2);
  });
  const verdict = withFile(found, inFile, flags);
  if (flags.json) writeJson(context, toJson(verdict));
  else tell(context, verdict);
  return verdict;
}

/** Adds what the client cannot know: which file had the key, and which option gives the policy. */
function withFile(verdict: ReceiptVerdict, inFile: Given, flags: VerifyFlags): ReceiptVerdict {
  const { problems, shown } = verdict;
  return {
    ...verdict,
    problems: problems.map((one) =>
      one.startsWith('Without a pinned policy') ? `${one} Give --policy FILE.` : one,
    ),
    shown: [...shown, ...takenFrom(inFile, flags)],
  };
}

/** Says which of key and opening are from the file with the receipt. */
function takenFrom({ key, opening }: Given, flags: VerifyFlags): string[] {
  const hasKey = key !== undefined && flags.keyFile === undefined;
  const isAsked = key !== undefined || flags.keyFile !== undefined;
  const hasOpening = isAsked && opening !== undefined && flags.opening === undefined;
  if (!hasKey && !hasOpening) return [];
  const what =
    hasKey && hasOpening ? 'Key and opening are' : `The ${hasKey ? 'key' : 'opening'} is`;
  return [`${what} from the file with the receipt.`];
}

/** Returns the key of a file, and the opening if the file is the JSON of `phm open` or `phm generate`. */
function readKey(path: string): Pick<Given, 'key' | 'opening'> {
  const bytes = readKeyBytes(path);
  const { key, opening } = decodeGiven(path, bytes);
  if (key !== undefined) return { key, ...(typeof opening === 'string' && { opening }) };
  throw new CommandError(`${path} contains no key in a form that "phm generate" writes`, 2);
}

/** Wipes the bytes. */
function decodeGiven(path: string, bytes: Buffer): { key?: string; opening?: unknown } {
  try {
    const key = decodeKey(bytes)?.key;
    if (key === undefined) return {};
    return { key, opening: parseObject(bytes.toString('utf8').replace(/^\ufeff/, ''))?.opening };
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    throw new CommandError(`the key cannot be read: ${visible(path)}: ${error.message}`, 2);
  } finally {
    bytes.fill(0);
  }
}

function readOpening(given: string | undefined): string | undefined {
  if (!given?.startsWith('@')) return given;
  const text = readInput(given.slice(1), 'the opening').trim();
  // The file of "generate --receipt", from before the log had the entry.
  const inObject = parseObject(text)?.opening;
  return typeof inObject === 'string' ? inObject : text;
}

function toJson(verdict: ReceiptVerdict) {
  return {
    valid: verdict.valid,
    problems: verdict.problems,
    shown: verdict.shown,
    not_shown: verdict.notShown,
    statement: verdict.statement,
    entry_index: verdict.entryIndex,
    tree_size: verdict.treeSize,
    signed_at: verdict.signedAt,
    witnesses: verdict.witnesses,
  };
}

/** Reports whether only cosignatures of witnesses are missing, which may come. */
function isNotYetCosigned(problems: readonly string[]): boolean {
  return problems.every((problem) => problem.startsWith(NOT_YET_COSIGNED));
}

function tell({ out }: CliContext, { valid, problems, shown, notShown }: ReceiptVerdict): void {
  out(`${valid ? 'valid' : isNotYetCosigned(problems) ? 'not yet cosigned' : 'not valid'}\n`);
  for (const [title, sentences] of [
    ['Problems', problems],
    ['Shown', shown],
    ['Not shown', notShown],
  ] as const) {
    if (sentences.length > 0) out(`${title}\n`);
    for (const sentence of sentences) out(`  ${sentence}\n`);
  }
}
