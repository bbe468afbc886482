/**
 * The thread of one background source. It reads noise and fills the pool, so that neither a slow
 * nor a busy source delays the generation of keys.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { releaseStartMemory } from '#platform/threads';
import { logThreadWarnings } from '../process/process-log.ts';
import { NoisePump, type SourceEvent } from './noise-pump.ts';
import { PoolFiller } from './pool.ts';
import { openReader } from './readers.ts';
import type { ReaderSettings } from './registry.ts';

export interface NoiseWorkerData {
  readonly settings: ReaderSettings;
  readonly memory: SharedArrayBuffer;
}

async function main({ settings, memory }: NoiseWorkerData): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('a noise worker runs only as a worker thread');
  const reader = await openReader(settings);
  const pump = new NoisePump(reader, new PoolFiller(memory), (event) =>
    port.postMessage(event satisfies SourceEvent),
  );
  // The only message is the request to end.
  port.once('message', async () => {
    await pump.close();
    port.close();
  });
  pump.start();
  releaseStartMemory();
}

logThreadWarnings();
void main(workerData as NoiseWorkerData);
