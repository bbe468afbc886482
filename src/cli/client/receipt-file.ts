/** The file of `phm generate --receipt`: the receipt of a key and the opening of its commitment. */
import { CommandError, jsonLine } from '#platform/commands';
import type { GeneratedKey } from '../../../sdk/src/index.ts';
import { commandLine } from '../../process/launcher.ts';
import type { CliContext } from '../context.ts';
import type { Connection } from './connection.ts';
import type { KeyFile } from './key-file.ts';

/** Members of an answer. The opening of a sealed key is inside it. */
type ReceiptedAnswer = Pick<GeneratedKey, 'key_id' | 'receipt' | 'receipt_url' | 'opening'>;

/**
 * Waits for the receipt if the answer has none yet, and saves it with the opening. Throws `CommandError` if it did not
 * come in time; the file then has the opening, which the service does not keep.
 */
export async function saveReceipt(
  context: CliContext,
  connection: Connection,
  { key_id, receipt: given, receipt_url, opening }: ReceiptedAnswer,
  file: KeyFile,
): Promise<void> {
  let receipt = given ?? null;
  let problem: CommandError | null = null;
  try {
    receipt ??= (await connection.ask((phm, signal) => phm.receipt(key_id, { signal }))).receipt;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    problem = error;
  }
  const content = Buffer.from(jsonLine({ key_id, receipt, opening, receipt_url }));
  try {
    file.save(content);
  } finally {
    content.fill(0);
  }
  if (problem === null) {
    const what = opening === undefined ? 'the receipt' : 'the receipt and the opening';
    context.err(`Wrote ${what} to ${file.path}\n`);
    return;
  }
  const has = opening === undefined ? 'no receipt' : 'only its opening';
  throw new CommandError(
    [
      ...problem.lines,
      `The key is complete, but ${file.path} has ${has}. To get the receipt later: ` +
        commandLine(context, `receipt get ${key_id}`),
    ],
    1,
  );
}
