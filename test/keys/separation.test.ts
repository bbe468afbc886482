/**
 * Copies of a generator MUST NOT repeat its output: threads, processes, restored snapshots.
 *
 * Two things separate them, and each is tested without the other: entropy drawn after the copy, and the
 * additional input of the reseed (SP 800-90A §8.7.2).
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { CtrDrbg } from '../../src/drbg/index.ts';
import { openSource } from '../../src/entropy/index.ts';
import { allocatePool, PooledSource, PoolFiller } from '../../src/entropy/pool.ts';
import { Generator } from '../../src/keys/generator.ts';
import type { BitGenerator } from '../../src/keys/seeded-drbg.ts';
import { parts } from '../support/servers/fakes.ts';
import { firstBytes, frozenGenerator } from './cloned-generator.ts';

const PROGRAM = new URL('./cloned-generator.ts', import.meta.url);

const inProcess = () =>
  execFileSync(process.execPath, [fileURLToPath(PROGRAM)], { encoding: 'utf8' }).trim();

async function inThread(): Promise<string> {
  const [bytes] = (await once(new Worker(PROGRAM), 'message')) as [string];
  return bytes;
}

/** Returns the state of a DRBG at one moment, as each restored snapshot has it. */
class WithoutAdditionalInput implements BitGenerator {
  readonly #drbg = CtrDrbg.instantiate({
    entropyInput: Buffer.alloc(32, 1),
    nonce: Buffer.alloc(16),
  });

  reseed(entropyInput: Uint8Array): void {
    this.#drbg.reseed(entropyInput);
  }

  generate(lengthBytes: number): Buffer {
    return this.#drbg.generate(lengthBytes);
  }

  destroy(): void {
    this.#drbg.destroy();
  }
}

describe('copies of a generator', () => {
  it('repeat each other without entropy and additional input, so the tests below can fail', () => {
    const [a, b] = [new WithoutAdditionalInput(), new WithoutAdditionalInput()];
    for (const drbg of [a, b]) drbg.reseed(Buffer.alloc(48, 5));
    assert.deepEqual(a.generate(32), b.generate(32));
  });

  it('differ by additional input alone, within a process, across threads and processes', async () => {
    const outputs = [
      firstBytes(frozenGenerator()),
      firstBytes(frozenGenerator()),
      ...(await Promise.all([inThread(), inThread(), inThread()])),
      inProcess(),
      inProcess(),
    ];
    for (const output of outputs) assert.match(output, /^[0-9a-f]{64}$/);
    assert.equal(new Set(outputs).size, outputs.length);
  });

  it('differ by fresh seed material alone, as after a restored snapshot with its clock', () => {
    const os = openSource('os');
    const outputs = Array.from({ length: 50 }, () =>
      firstBytes(new Generator(parts({ os, drbg: new WithoutAdditionalInput() }))),
    );
    assert.equal(new Set(outputs).size, outputs.length);
    os.close();
  });

  it('differ even if a restored pool gives both the same draw', () => {
    const os = openSource('os');
    const restored = () => {
      const memory = allocatePool(2);
      const filler = new PoolFiller(memory);
      filler.put(Buffer.alloc(32, 3), null);
      filler.setState('delivering');
      const jitter = new PooledSource({
        name: 'jitter',
        kind: 'noise',
        creditBitsPerDraw: 192,
        isSeparate: false,
        memory,
      });
      const extras = new Map([['jitter' as const, jitter]]);
      return new Generator(parts({ os, extras, drbg: new WithoutAdditionalInput() }));
    };
    const [a, b] = [restored(), restored()].map((generator) => {
      generator.reseed('jitter');
      return generator.request(32).toString('hex');
    });
    assert.notEqual(a, b);
    os.close();
  });
});
