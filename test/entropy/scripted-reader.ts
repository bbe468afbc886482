/** A noise reader that follows a script, batch by batch. */

import { type NoiseBatch, NoiseFailure, type NoiseReader } from '../../src/entropy/noise.ts';
import { aesCtr } from '../support/lab/aes-stream.ts';

/**
 * Returns batch number `index`, or an error; `wait` delays the answer until the reader is aborted.
 */
export type Script = (index: number) => Uint8Array | Error | 'wait';

/** Returns samples that pass every test, with a different block for each index. */
export function goodSamples(index: number, length = 1024): Buffer {
  const key = Buffer.alloc(32);
  key.writeUInt32BE(index + 1);
  return aesCtr(key, length);
}

export class ScriptedReader implements NoiseReader {
  readonly bitsPerSample = 8;
  readonly minEntropyPerSample: number = 4;
  readonly bytesPerDraw: number;
  readonly batches: Uint8Array[] = [];
  closed = false;
  reads = 0;
  readonly #script: Script;
  readonly #jobId: string | null;

  readonly #finding: string | null;

  constructor(
    script: Script,
    { bytesPerDraw = 64, jobId = null as string | null, finding = null as string | null } = {},
  ) {
    this.#script = script;
    this.bytesPerDraw = bytesPerDraw;
    this.#jobId = jobId;
    this.#finding = finding;
  }

  test(): string | null {
    return this.#finding;
  }

  async read(signal: AbortSignal): Promise<NoiseBatch> {
    const answer = this.#script(this.reads++);
    // A real source takes time. A reader that never yields would not see the abort.
    await new Promise((resolve) => setImmediate(resolve));
    if (answer instanceof Error) throw answer;
    if (answer === 'wait') {
      // The abort may have come before this point.
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw new NoiseFailure('aborted');
    }
    const samples = new Uint8Array(answer);
    this.batches.push(samples);
    return { samples, jobId: this.#jobId };
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}
