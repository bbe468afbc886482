/**
 * A generator with the same state wherever it is created, as after a restored snapshot, and its first bytes
 * after a reseed. As a program or worker it sends these bytes to its parent.
 */
import { parentPort } from 'node:worker_threads';
import { CtrDrbg } from '../../src/drbg/index.ts';
import { Generator } from '../../src/keys/generator.ts';
import { parts } from '../support/servers/fakes.ts';

/** Sources that repeat: each copy gets the same draws. */
export function frozenGenerator(): Generator {
  const state = { entropyInput: Buffer.alloc(32, 1), nonce: Buffer.alloc(16) };
  return new Generator(parts({ drbg: CtrDrbg.instantiate(state) }));
}

export function firstBytes(generator: Generator): string {
  generator.reseed('os');
  return generator.request(32).toString('hex');
}

if (parentPort) parentPort.postMessage(firstBytes(frozenGenerator()));
else if (process.argv[1] === import.meta.filename)
  process.stdout.write(firstBytes(frozenGenerator()));
