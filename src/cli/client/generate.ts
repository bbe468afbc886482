/** `phm generate`: gets a key from a running service. */
import { type Command, Option } from 'commander';
import type { GeneratedKey, GenerateRequest } from '../../../sdk/src/index.ts';
import { SOURCE_NAMES } from '../../entropy/index.ts';
import { SECURITY_LEVELS } from '../../keys/index.ts';
import { DEFAULT_MODULATION, MODULATION_TYPES } from '../../modulation/index.ts';
import { CommandError } from '../command-error.ts';
import type { CliContext } from '../context.ts';
import { addConnectionOptions, Connection, type ConnectionFlags } from './connection.ts';
import { KeyFile } from './key-file.ts';
import {
  DEFAULT_VARIABLE,
  encodeKey,
  KEY_FORMATS,
  type KeyFormat,
  parseVariable,
} from './key-formats.ts';
import { saveReceipt } from './receipt-file.ts';
import { testsOf, writeDetails } from './terminal.ts';

const INCLUDES = ['hash_proof', 'nist_report', 'receipt'];

const LOST =
  'A key may have been generated and counted, but you did not get it. The next run gets another key.';

const HELP = `
Standard output gets the key and a line end, nothing else. On a terminal, standard error shows details.
A new file is readable by its owner only. It is created before the request and removed if there is no key.
With --receipt the command waits until the log has the entry of the key.
Exit code: 0 the key was written, 1 failed, 2 wrong usage.

Examples:
  phm generate
  phm generate --level 384 --format raw --output key.bin
  phm generate --validate --json > evidence-with-key.json
  phm generate --output data.key --receipt data.receipt
  export "$(phm generate --format env --env-name DATA_KEY)"
`;

interface GenerateFlags extends ConnectionFlags {
  readonly level: GenerateRequest['security_level'];
  readonly validate?: boolean;
  readonly source?: GenerateRequest['entropy_source'];
  readonly modulation: GenerateRequest['modulation_type'];
  readonly include?: GenerateRequest['include'];
  readonly format: KeyFormat;
  readonly envName?: string;
  readonly output?: string;
  readonly force?: boolean;
  readonly receipt?: string;
  readonly json?: boolean;
}

export function addGenerateCommand(program: Command, context: CliContext): void {
  const command = program
    .command('generate')
    .description('get a new key from a running service')
    .addOption(
      new Option('--level <bits>', 'length of the key')
        .choices(SECURITY_LEVELS.map(String))
        .default('256'),
    )
    .option(
      '--validate',
      "run the 15 statistical tests on the generator's output before modulation",
    )
    .addOption(
      new Option('--source <name>', "entropy source to mix in; default: the service's").choices(
        SOURCE_NAMES,
      ),
    )
    .addOption(
      new Option('--modulation <type>', 'modulation type')
        .choices(MODULATION_TYPES)
        .default(DEFAULT_MODULATION),
    )
    .addOption(
      new Option(
        '--format <format>',
        'raw: the bytes; jwk: JSON Web Key; env: NAME=<hex digits>, for a shell',
      )
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
    .option('--force', 'replace existing files of --output and --receipt')
    .option(
      '--receipt <file>',
      'write the receipt of the key and the opening of its commitment to a new file',
    )
    .addOption(new Option('--json', 'write the whole answer of the service').conflicts('format'))
    .addOption(
      new Option(
        '--include <field...>',
        'add a field to --json; nist_report: all p-values, needs --validate; receipt: with its opening; hash_proof: always there',
      ).choices(INCLUDES),
    );
  addConnectionOptions(command, HELP).action(
    (flags: Omit<GenerateFlags, 'level'> & { level: string }) => {
      // Commander has checked the choices.
      const level = Number(flags.level) as GenerateFlags['level'];
      return generate(context, { ...flags, level });
    },
  );
}

async function generate(context: CliContext, flags: GenerateFlags): Promise<void> {
  assertConsistent(flags);
  const connection = new Connection(context, flags);
  const { file, receiptFile } = claimFiles(flags);
  let generated: GeneratedKey;
  try {
    const body = toRequest(flags);
    generated = await connection.ask((phm, signal) => phm.generate(body, { signal }), LOST);
  } catch (error) {
    file?.discard();
    receiptFile?.discard();
    throw error;
  }
  const content = flags.json
    ? Buffer.from(`${JSON.stringify(generated)}\n`)
    : encodeKey(generated, flags.format, flags.envName ?? DEFAULT_VARIABLE);
  await deliver(context, content, file, generated.key_id);
  if (file) {
    context.err(
      `Wrote a ${generated.security_level}-bit key, ${generated.key_id}, to ${file.path}\n`,
    );
    if (flags.validate) context.err(`Tests: ${testsOf(generated)}\n`);
  } else if (isDetailed(flags)) {
    writeDetails(context, generated);
  }
  if (receiptFile) await saveReceipt(context, connection, generated, receiptFile);
}

/** Claims the names of both files, or of none. */
function claimFiles({ output, receipt, force = false }: GenerateFlags): {
  file: KeyFile | undefined;
  receiptFile: KeyFile | undefined;
} {
  const file = output === undefined ? undefined : KeyFile.claim(output, force);
  try {
    const receiptFile = receipt === undefined ? undefined : KeyFile.claim(receipt, force);
    return { file, receiptFile };
  } catch (error) {
    file?.discard();
    throw error;
  }
}

function assertConsistent(flags: GenerateFlags): void {
  const { format, envName, output, force, json, include, validate, receipt } = flags;
  if (envName !== undefined && (format !== 'env' || json)) {
    throw new CommandError('--env-name needs --format env', 2);
  }
  if (include && !json) {
    throw new CommandError(
      '--include needs --json, because it adds a field to the answer; nist_report also needs --validate',
      2,
    );
  }
  if (include?.includes('nist_report') && !validate) {
    throw new CommandError(
      '--include nist_report needs --validate, because no test runs without it',
      2,
    );
  }
  if (force && output === undefined && receipt === undefined) {
    throw new CommandError('--force needs --output or --receipt', 2);
  }
  if (receipt === '-' || receipt === '') {
    throw new CommandError('--receipt needs the name of a file', 2);
  }
  if (receipt !== undefined && receipt === output) {
    throw new CommandError('--receipt and --output name the same file: name two', 2);
  }
  if (output === '-' || output === '') {
    throw new CommandError(
      '--output needs the name of a file; leave the option out for standard output',
      2,
    );
  }
  if (format === 'raw' && output === undefined && !json && process.stdout.isTTY) {
    throw new CommandError(
      '--format raw cannot be written to a terminal: use --output or a pipe',
      2,
    );
  }
}

/** Reports whether standard error shows details below the key. */
function isDetailed({ output, json }: GenerateFlags): boolean {
  return process.stdout.isTTY && output === undefined && !json;
}

function toRequest(flags: GenerateFlags): GenerateRequest {
  const { level, validate, source, modulation, output, json } = flags;
  // The report has the gate's p-value, which the message or the details show.
  const isTold = validate && !json && (output !== undefined || isDetailed(flags));
  const asked = isTold ? ['nist_report' as const] : (flags.include ?? []);
  const include =
    flags.receipt === undefined ? asked : [...new Set([...asked, 'receipt' as const])];
  return {
    security_level: level,
    ...(validate && { enable_nist_validation: true }),
    ...(source && { entropy_source: source }),
    ...(modulation && { modulation_type: modulation }),
    ...(include.length > 0 && { include }),
  };
}

/** Writes the key to its destination. Throws a `CommandError` that names the lost key. */
async function deliver(
  context: CliContext,
  content: Buffer,
  file: KeyFile | undefined,
  keyId: string,
): Promise<void> {
  try {
    if (file) file.save(content);
    else await context.outBytes(content);
  } catch (error) {
    const reason = error instanceof CommandError ? error.message : 'the output cannot be written';
    throw new CommandError(
      `${reason}\nThe key ${keyId} was generated and counted, but it is lost: run the command again for another key.`,
      1,
    );
  } finally {
    content.fill(0);
  }
}
