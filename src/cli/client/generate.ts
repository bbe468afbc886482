/** `phm generate`: gets keys from a running service. */

import { type Command, Option } from 'commander';
import { parseCountTo } from '#platform/commands';
import { SOURCE_NAMES } from '../../entropy/index.ts';
import { SECURITY_LEVELS } from '../../keys/terms.ts';
import { DEFAULT_MODULATION, MODULATION_TYPES } from '../../modulation/index.ts';
import type { CliContext } from '../context.ts';
import { parseDuration } from '../parse-duration.ts';
import { futureTime } from '../parse-time.ts';
import { generateBatch } from './batch/command.ts';
import { addConnectionOptions, Connection } from './connection.ts';
import { assertConsistent, type GenerateFlags, INCLUDES } from './generate-flags.ts';
import { generateOne } from './generate-one.ts';
import { generateSealed } from './generate-sealed.ts';
import { DEFAULT_VARIABLE, KEY_FORMATS, parseVariable } from './key-formats.ts';
import { collectLabel } from './labels.ts';
import { readTargets } from './seal-to.ts';

/** Most keys of one command. Each is a file of the directory. */
const MAX_COUNT = 1_000_000;

const HELP = `
Standard output gets the key and a line end, nothing else. On a terminal, standard error shows details.
A new file is readable by its owner only. It is created before the request and removed if there is no key.
With --receipt the command waits until the log has the entry of the key.

With --seal-to or --recipient the key is sealed: only the recipient's private key opens it, with phm open. The command
writes the answer of the service as JSON, which has no key in plaintext. Several recipients, at most eight, get the same
key: give each of them that file.

With --deliver, the service keeps the sealed copies, too, and each registered recipient fetches its own: "phm deliveries". Without
an ID, the delivery gets a new one.

With --label, "phm keys list" finds the record of the key later. Labels are stored and shown: put no secret in them.
From the time of --expires-in or --expires-at on, "phm validate" calls the key invalid.

With --count and --output-dir, each key gets a file that its key ID names. After Ctrl-C, a kill, a full disk or a lost
connection, the same command continues. It names the keys that were lost, and generates others in their place.

Exit code: 0 the keys were written, 1 failed, 2 wrong usage.

Examples:
  phm generate
  phm generate --level 384 --format raw --output key.bin
  phm generate --validate --json > evidence-with-key.json
  phm generate --output data.key --receipt data.receipt
  phm generate --seal-to backup.recipient --output data.sealed
  phm generate --seal-to east.recipient --seal-to west.recipient --include receipt --output link.sealed
  phm generate --recipient paris --recipient lyon --deliver --deliver-for 1h --output link.sealed
  phm generate --label env=prod --label owner=billing --expires-in 30d --output data.key
  phm generate --count 1000 --output-dir devices
  export "$(phm generate --format env --env-name DATA_KEY)"
`;

type GivenFlags = Omit<GenerateFlags, 'level' | 'isFormatGiven'> & { readonly level: string };

export function addGenerateCommand(program: Command, context: CliContext): void {
  const command = program.command('generate').description('get new keys from a running service');
  addKeyOptions(command);
  addDeliveryOptions(command);
  addEndOptions(command);
  addOutputOptions(command);
  addConnectionOptions(command, HELP).action((flags: GivenFlags) => {
    // Commander has checked the choices.
    const level = Number(flags.level) as GenerateFlags['level'];
    const isFormatGiven = command.getOptionValueSource('format') !== 'default';
    const { expiresIn, expiresAt = expiresIn && Date.now() + expiresIn } = flags;
    return generate(context, { ...flags, level, isFormatGiven, ...(expiresAt && { expiresAt }) });
  });
}

function addKeyOptions(command: Command): void {
  command
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
        '--seal-to <file>',
        'seal the key to the public file of a recipient; repeat it for several',
      ).argParser(collect),
    )
    .addOption(
      new Option(
        '--recipient <name>',
        'seal the key to a recipient that is registered at the service; repeat it for several',
      ).argParser(collect),
    );
}

function addDeliveryOptions(command: Command): void {
  command
    .option(
      '--deliver [id]',
      'keep the sealed copies for the recipients of --recipient, under this UUID or a new one',
    )
    .addOption(
      new Option(
        '--deliver-for <time>',
        "keep the copies for a time such as 30m, 1h or 7d; default: the service's, 1h",
      ).argParser(parseDuration('--deliver-for')),
    )
    .option(
      '--deliver-context <base64>',
      '32 bytes that each copy states, such as a digest of what the key is for',
    );
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function addEndOptions(command: Command): void {
  command
    .addOption(
      new Option('--label <name=value>', 'label of the key; repeat it for several').argParser(
        collectLabel,
      ),
    )
    .addOption(
      new Option('--expires-in <time>', 'end the use of the key after a time such as 12h or 30d')
        .argParser(parseDuration('--expires-in'))
        .conflicts('expiresAt'),
    )
    .addOption(
      new Option(
        '--expires-at <time>',
        'end the use of the key at a time such as 2027-01-31T12:00Z',
      ).argParser(futureTime('--expires-at')),
    );
}

function addOutputOptions(command: Command): void {
  command
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
    .addOption(
      new Option('--count <n>', `number of keys for --output-dir, at most ${MAX_COUNT}`).argParser(
        parseCountTo(MAX_COUNT),
      ),
    )
    .option('--output-dir <dir>', 'write each of --count keys to a file of this directory')
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
}

async function generate(context: CliContext, flags: GenerateFlags): Promise<void> {
  assertConsistent(flags);
  const targets = await readTargets(flags);
  const connection = new Connection(context, flags);
  if (flags.count !== undefined && flags.outputDir !== undefined) {
    const { count, outputDir } = flags;
    return generateBatch(context, connection, { ...flags, count, outputDir }, targets);
  }
  if (targets) return generateSealed(context, connection, flags, targets);
  return generateOne(context, connection, flags);
}
