/** Reads an input to its end, as the library opens it. */
import { AssessError, openReader, type Recognition, type Source } from '../../src/index-node.ts';

interface Read {
  /** The bits as hexadecimal digits; a last incomplete byte has zeros. */
  readonly hex: string;
  readonly bits: number;
  readonly format: string;
}

/** Rejects as the reader does. */
export async function readForm(
  source: Source,
  format?: string,
  recognition: Recognition = {},
): Promise<Read> {
  const reader = openReader(source, format, recognition);
  try {
    let text = '';
    for (;;) {
      const { bytes, offsetBits, bits } = await reader.readSequence(8 * 1000);
      if (offsetBits !== 0) throw new Error('expected whole bytes');
      text += Buffer.from(bytes.subarray(0, Math.ceil(bits / 8))).toString('hex');
      if (bits === 8 * 1000) continue;
      await reader.finish?.();
      return { hex: text, bits: 4 * text.length - ((8 - (bits % 8)) % 8), format: reader.format };
    }
  } finally {
    await reader.close();
  }
}

/** Returns the refusal. */
export async function refusal(source: Source, format?: string): Promise<AssessError> {
  try {
    await readForm(source, format);
  } catch (error) {
    if (error instanceof AssessError) return error;
    throw error;
  }
  throw new Error('expected a refusal, got bits');
}
