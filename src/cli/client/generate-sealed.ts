/** One sealed key of `phm generate`. */
import { jsonLine } from '#platform/commands';
import type { GeneratedSealedKey } from '../../../sdk/src/index.ts';
import { type CliContext, requireReader } from '../context.ts';
import type { Connection } from './connection.ts';
import type { GenerateFlags } from './generate-flags.ts';
import { claimFiles, deliver, LOST } from './generate-one.ts';
import { saveReceipt } from './receipt-file.ts';
import { checkAnswer, type SealTarget, toSealedRequest } from './seal-to.ts';
import { testsOf, writeEnds } from './terminal.ts';

export async function generateSealed(
  context: CliContext,
  connection: Connection,
  flags: GenerateFlags,
  target: SealTarget,
): Promise<void> {
  if (flags.output === undefined) requireReader(context);
  const { file, receiptFile } = claimFiles(flags);
  const body = toSealedRequest(flags, target, receiptFile ? ['receipt'] : []);
  try {
    // The client sends an Idempotency-Key, so a lost answer is asked for again and is the same.
    const answer: GeneratedSealedKey = await connection.ask(
      (phm, signal) => phm.generateSealed(body, { signal }),
      LOST,
    );
    const { thumbprint } = checkAnswer(answer, target);
    const content = Buffer.from(jsonLine(answer));
    await deliver(context, content, file, answer.key_id);
    if (file) {
      context.err(
        `Wrote a ${answer.security_level}-bit key, ${answer.key_id}, sealed to ${thumbprint}, to ${file.path}\n`,
      );
      if (flags.validate) context.err(`Tests: ${testsOf(answer)}\n`);
      writeEnds(context, answer);
    }
    if (receiptFile) await saveReceipt(context, connection, answer, receiptFile);
  } catch (error) {
    file?.discard();
    receiptFile?.discard();
    throw error;
  }
}
