/** `phm validate`: whether a running service vouches for a key. */
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { ValidationResult } from '../../../sdk/src/index.ts';
import { CommandError } from '../command-error.ts';
import { type CliContext, writeJson } from '../context.ts';
import { addConnectionOptions, Connection, type ConnectionFlags } from './connection.ts';
import { decodeKey, type KeyToValidate } from './key-formats.ts';

const LOST = 'The validation may have been counted.';

const HELP = `
The key is read from standard input or a file, in any form that "phm generate" writes: hex, base64, raw, jwk, env
or --json, whose proof is used if it has one. It is not taken from the command line: every user of the machine
could read it in the list of processes. It travels to the service, and a verdict counts as a request.
Exit code: 0 valid, 1 not valid, 2 called wrongly or the service could not be asked.

Examples:
  phm validate < key.hex
  phm validate --file key.bin && echo "made by this service"
`;

interface ValidateFlags extends ConnectionFlags {
  readonly proof?: string;
  readonly file?: string;
  readonly json?: boolean;
}

/** `onVerdict` gets the exit code of the verdict. */
export function addValidateCommand(
  program: Command,
  context: CliContext,
  onVerdict: (exitCode: number) => void,
): void {
  const command = program
    .command('validate')
    .description('ask a running service whether it made a key')
    .argument('[-]', 'standard input, which is read anyway unless there is --file')
    .option('--file <file>', 'read the key from a file')
    .option(
      '--proof <proof>',
      'the proof of the key, its hash_proof: then it decides, not the ledger',
    )
    .option('--json', 'write the whole answer of the service');
  addConnectionOptions(command, HELP).action(
    async (given: string | undefined, flags: ValidateFlags) => {
      const { valid } = await validate(context, given, flags).catch((error: unknown) => {
        // 1 is a verdict here.
        throw error instanceof CommandError ? new CommandError(error.message, 2) : error;
      });
      onVerdict(valid ? 0 : 1);
    },
  );
}

async function validate(
  context: CliContext,
  given: string | undefined,
  { proof, file, json, ...flags }: ValidateFlags,
): Promise<ValidationResult> {
  if (given !== undefined && given !== '-') {
    throw new CommandError(
      'a key on the command line can be read by every user of this machine: give it on standard input, or with --file',
      2,
    );
  }
  if (given === '-' && file !== undefined) {
    throw new CommandError('"-" is standard input, and --file names another: keep one of them', 2);
  }
  const connection = new Connection(context, flags);
  const read = await readKey(context, file);
  const body = proof === undefined ? read : { ...read, hash_proof: proof };
  const verdict = await connection.ask((phm, signal) => phm.validate(body, { signal }), LOST);
  if (json) writeJson(context, verdict);
  else writeVerdict(context, verdict);
  return verdict;
}

/** Largest input: an answer with its report has 18 kB. */
const MAX_BYTES = 65_536;

async function readKey({ err }: CliContext, file: string | undefined): Promise<KeyToValidate> {
  const input = file === undefined ? await readStandardInput(err) : readFile(file);
  const key = input.length <= MAX_BYTES ? decodeKey(input) : undefined;
  input.fill(0);
  if (key) return key;
  const where = file ?? 'standard input';
  throw new CommandError(
    `${where} holds no key in a form that "phm generate" writes; nothing was sent`,
    2,
  );
}

function readFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(`the key cannot be read: ${(error as Error).message}`, 2);
  }
}

async function readStandardInput(err: (text: string) => void): Promise<Buffer> {
  if (process.stdin.isTTY) err('Paste the key, then press Enter and Ctrl-D.\n');
  return buffer(process.stdin);
}

/** What the ledger has of a key whose version of the service's secret was retired. */
const RETIRED_SECRET: Readonly<Record<string, string>> = {
  record_found:
    'The service has retired the secret behind this key, so the ledger decided: it has a record of the key.',
  record_too_late:
    'The service has retired the secret behind this key. The ledger has a record of the key, but only from after the ' +
    'secret was compromised.',
  no_record:
    'The service has retired the secret behind this proof, and the ledger has no record of the key: the proof may be ' +
    'forged, or the record was removed because of its age.',
};

function writeVerdict(
  { out, err }: CliContext,
  { valid, validation_details: details }: ValidationResult,
): void {
  out(`${valid ? 'valid' : 'not valid'}\n`);
  for (const [check, result] of Object.entries(details)) {
    out(`  ${check.replace('_', ' ').padEnd(19)} ${result}\n`);
  }
  const explanation = RETIRED_SECRET[details.retired_secret ?? ''];
  if (explanation) err(`${explanation}\n`);
}
