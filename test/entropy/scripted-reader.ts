/** A reader of noise that does what its script says, batch by batch. */

import { type NoiseBatch, NoiseFailure, type NoiseReader } from '../../src/entropy/noise.ts';
import { aesCtr } from '../support/aes-stream.ts';

/** Makes batch number `index`, or throws; `wait` keeps the reader from answering until aborted. */
export type Script = (index: number) => Uint8Array | Error | 'wait';

/** Samples that no test finds fault with; a block of its own for each index. */
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
    // A real source takes time; one that never yields would never see its end.
    await new Promise((resolve) => setImmediate(resolve));
    if (answer instanceof Error) throw answer;
    if (answer === 'wait') {
      // It may have been told to end before it got here.
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
