/** One sealed key of `phm generate`. */
import { jsonLine } from '#platform/commands';
import type { DeliveredKey, GeneratedSealedKey } from '../../../sdk/src/index.ts';
import { type CliContext, requireReader } from '../context.ts';
import type { Connection } from './connection.ts';
import type { GenerateFlags } from './generate-flags.ts';
import { claimFiles, deliver, LOST } from './generate-one.ts';
import { saveReceipt } from './receipt-file.ts';
import { checkAnswer, deliveryOf, type SealTargets, toSealedRequest } from './seal-to.ts';
import { testsOf, writeEnds } from './terminal.ts';

type Answer = Omit<GeneratedSealedKey, 'sealed_key'> &
  Partial<Pick<GeneratedSealedKey, 'sealed_key'> & Pick<DeliveredKey, 'sealed_keys' | 'delivery'>>;

export async function generateSealed(
  context: CliContext,
  connection: Connection,
  flags: GenerateFlags,
  targets: SealTargets,
): Promise<void> {
  if (flags.output === undefined) requireReader(context);
  const { file, receiptFile } = claimFiles(flags);
  const order = toSealedRequest(flags, targets, receiptFile ? ['receipt'] : []);
  const body = { ...order, ...deliveryOf(flags) };
  try {
    // The client sends an Idempotency-Key, so a lost answer is asked for again and is the same.
    const answer: Answer = await connection.ask(
      (phm, signal) => phm.generateSealed(body, { signal }),
      LOST,
    );
    const recipients = checkAnswer(answer, targets);
    const content = Buffer.from(jsonLine(answer));
    await deliver(context, content, file, answer.key_id);
    if (file) {
      context.err(
        `Wrote a ${answer.security_level}-bit key, ${answer.key_id}, sealed to ${recipients.join(', ')}, to ${file.path}\n`,
      );
      if (flags.validate) context.err(`Tests: ${testsOf(answer)}\n`);
      writeEnds(context, answer);
    }
    if (answer.delivery) {
      const { id, until } = answer.delivery;
      context.err(`Delivery: ${id}, for ${flags.recipient?.join(', ')}, until ${until}\n`);
    }
    if (receiptFile) await saveReceipt(context, connection, answer, receiptFile);
  } catch (error) {
    file?.discard();
    receiptFile?.discard();
    throw error;
  }
}
