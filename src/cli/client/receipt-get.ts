/** `phm receipt get`: gets a receipt from a running service, as the account of the key or as the recipient of a sealed key. */

import type { Command } from 'commander';
import { CommandError, jsonLine } from '#platform/commands';
import { parseSealedKey, type SealHeader, sealHeaderOf } from '#sealing';
import { FormatError } from '#tlog';
import type { PhmClient, ReceiptResult } from '../../../sdk/src/index.ts';
import type { CliContext } from '../context.ts';
import { addConnectionOptions, Connection, type ConnectionFlags } from './connection.ts';
import { KeyFile } from './key-file.ts';
import { assertKeyId } from './key-id.ts';
import { readSealed, type SealedInput } from './open-input.ts';

const HELP = `
Standard output gets the receipt as JSON. The command waits until the log has the entry. Only API keys of the account that
generated the key get its receipt by KEY_ID alone. With --sealed anyone who has the sealed key gets it: no API key is needed, and
none is sent. The opening is not in it: the service does not keep it.
Exit code: 0 the receipt was written, 1 failed, 2 wrong usage.

Examples:
  phm receipt get phm_2170447811675921486708632360111591537 --output data.receipt
  phm receipt get --sealed data.sealed --output data.receipt
`;

interface GetFlags extends ConnectionFlags {
  readonly sealed?: string;
  readonly output?: string;
  readonly force?: boolean;
}

export function addReceiptGet(receipt: Command, context: CliContext): void {
  const get = receipt
    .command('get')
    .argument('[key_id]', 'ID of the key: phm_ and a number')
    .description('get the receipt of a key from a running service')
    .option(
      '--sealed <file>',
      'file with the sealed key; only a batch needs KEY_ID, too. - reads standard input',
    )
    .option('--output <file>', 'write to a new file instead of standard output')
    .option('--force', 'replace an existing file of --output');
  addConnectionOptions(get, HELP).action((keyId: string | undefined, flags: GetFlags) =>
    getReceipt(context, keyId, flags),
  );
}

async function getReceipt(
  context: CliContext,
  given: string | undefined,
  { sealed, output, force = false, ...flags }: GetFlags,
): Promise<void> {
  if (force && output === undefined) throw new CommandError('--force needs --output', 2);
  const { keyId, needsApiKey, ask } = await readQuestion(given, sealed);
  const connection = new Connection(context, flags, needsApiKey);
  const file = output === undefined ? undefined : KeyFile.claim(output, force);
  try {
    const { receipt } = await connection.ask(ask);
    const text = jsonLine(receipt);
    if (file === undefined) context.out(text);
    else file.save(Buffer.from(text));
  } catch (error) {
    file?.discard();
    throw error;
  }
  if (file) context.err(`Wrote the receipt of ${keyId} to ${file.path}\n`);
}

interface Question {
  readonly keyId: string;
  readonly needsApiKey: boolean;
  readonly ask: (phm: PhmClient, signal: AbortSignal) => Promise<ReceiptResult>;
}

async function readQuestion(
  keyId: string | undefined,
  sealed: string | undefined,
): Promise<Question> {
  if (keyId !== undefined) assertKeyId(keyId);
  if (sealed === undefined) {
    if (keyId === undefined) throw new CommandError('give KEY_ID or --sealed FILE', 2);
    return { keyId, needsApiKey: true, ask: (phm, signal) => phm.receipt(keyId, { signal }) };
  }
  const { key_id: id, key_commitment: commitment } = await readHeader(sealed, keyId);
  return {
    keyId: id,
    needsApiKey: false,
    ask: (phm, signal) => phm.receiptByCommitment(id, commitment, { signal }),
  };
}

/** Returns the header of the only key of a file, or of the one with this ID. */
async function readHeader(path: string, keyId: string | undefined): Promise<SealHeader> {
  const headers = (await readSealed(path)).map(headerOf);
  const found = headers.filter(({ key_id: id }) => keyId === undefined || id === keyId);
  const [header, ...others] = found;
  if (header && others.length === 0) return header;
  const problem =
    keyId === undefined
      ? `the file has ${headers.length} keys: give KEY_ID of one of them, too`
      : `the file has no key ${keyId}`;
  throw new CommandError(problem, 2);
}

function headerOf({ file, sealed }: SealedInput): SealHeader {
  try {
    // The copies for several recipients are of one key.
    const [copy] = Array.isArray(sealed.sealed_keys) ? sealed.sealed_keys : [];
    return sealHeaderOf(parseSealedKey(copy ?? sealed.sealed_key ?? sealed));
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new CommandError(`${file} has no sealed key that can be read: ${error.message}`, 1);
  }
}
