/** One key in plaintext of `phm generate`, and the files that it shares with a sealed one. */
import { CommandError, jsonLine } from '#platform/commands';
import { type GeneratedKey, PhmKeyLostError } from '../../../sdk/src/index.ts';
import { type CliContext, requireReader } from '../context.ts';
import type { Connection } from './connection.ts';
import { type GenerateFlags, toRequest } from './generate-flags.ts';
import { KeyFile } from './key-file.ts';
import { DEFAULT_VARIABLE, encodeKey } from './key-formats.ts';
import { saveReceipt } from './receipt-file.ts';
import { testsOf, writeDetails, writeEnds } from './terminal.ts';

export const LOST =
  'A key may have been generated and counted, but you did not get it. The next run gets another key.';

export async function generateOne(
  context: CliContext,
  connection: Connection,
  flags: GenerateFlags,
): Promise<void> {
  if (flags.output === undefined) requireReader(context);
  const { file, receiptFile } = claimFiles(flags);
  let generated: GeneratedKey;
  try {
    generated = await request(connection, flags);
  } catch (error) {
    file?.discard();
    receiptFile?.discard();
    throw error;
  }
  const content = flags.json
    ? Buffer.from(jsonLine(generated))
    : encodeKey(generated, flags.format, flags.envName ?? DEFAULT_VARIABLE);
  await deliver(context, content, file, generated.key_id);
  if (file) {
    context.err(
      `Wrote a ${generated.security_level}-bit key, ${generated.key_id}, to ${file.path}\n`,
    );
    if (flags.validate) context.err(`Tests: ${testsOf(generated)}\n`);
    writeEnds(context, generated);
  } else if (isDetailed(flags)) {
    writeDetails(context, generated);
  }
  if (receiptFile) await saveReceipt(context, connection, generated, receiptFile);
}

/** Has an Idempotency-Key, so that the client may repeat the request: the service then names the key that was lost. */
function request(connection: Connection, flags: GenerateFlags): Promise<GeneratedKey> {
  const body = toPlainRequest(flags);
  return connection.ask(async (phm, signal) => {
    try {
      return await phm.generate(body, { signal, idempotencyKey: true });
    } catch (error) {
      if (!(error instanceof PhmKeyLostError)) throw error;
      const [keyId] = error.keyIds;
      throw new CommandError(
        `the answer with the key ${keyId} was lost: it was generated and counted, and the service cannot send it again. Run the ` +
          'command again for another key',
        1,
      );
    }
  }, LOST);
}

function toPlainRequest(flags: GenerateFlags) {
  const { validate, output, json, receipt } = flags;
  // The report has the gate's p-value, which the message or the details show.
  const isTold = validate && !json && (output !== undefined || isDetailed(flags));
  return toRequest(flags, [
    ...(isTold ? (['nist_report'] as const) : []),
    ...(receipt === undefined ? [] : (['receipt'] as const)),
  ]);
}

/** Reports whether standard error shows details below the key. */
function isDetailed({ output, json }: GenerateFlags): boolean {
  return process.stdout.isTTY && output === undefined && !json;
}

/** Claims the names of both files, or of none. */
export function claimFiles({ output, receipt, force = false }: GenerateFlags): {
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

/** Writes the key to its destination. Throws a `CommandError` that names the lost key. */
export async function deliver(
  context: CliContext,
  content: Buffer,
  file: KeyFile | undefined,
  keyId: string,
): Promise<void> {
  try {
    if (file) file.save(content);
    else await context.outBytes(content);
  } catch (error) {
    const reason = error instanceof CommandError ? error.lines : ['the output cannot be written'];
    const lost = `The key ${keyId} was generated and counted, but it is lost: run the command again for another key.`;
    throw new CommandError([...reason, lost], 1);
  } finally {
    content.fill(0);
  }
}
