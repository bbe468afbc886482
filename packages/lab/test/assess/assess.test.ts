/** `assess` of the package on inputs of all kinds, in this thread. test/campaigns/lab-package.test.ts has workers. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { runPackedSuite, type SuiteReport } from '../../../sp800-22/src/index-node.ts';
import { AssessError, assess, type ByteSource, type InputSequence } from '../../src/index-node.ts';

const BITS = 1_001;
const BYTES = Uint8Array.from({ length: 1_000 }, (_, i) => (i * i * 31 + (i >>> 3) * 77) & 255);
const OPTIONS = { bits: BITS, workers: 0, tests: ['frequency', 'runs'] as const };

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

describe('assess', () => {
  it('gives the same reports for every kind of source, and the digest of the bytes that it used', async () => {
    const expected = [0, 1, 2].map((i) =>
      runPackedSuite(BYTES, { bits: BITS, offsetBits: 5 + i * BITS, only: OPTIONS.tests }),
    );
    const used = BYTES.subarray(0, Math.ceil((5 + 3 * BITS) / 8));
    for (const source of [
      BYTES,
      new Blob([BYTES]),
      new Blob([BYTES]).stream(),
      inChunks(BYTES, 7),
    ]) {
      const reports: SuiteReport[] = [];
      const { summary, trace } = await assess(source, {
        ...OPTIONS,
        offset: 5,
        sequences: 3,
        onReport: (report) => reports.push(report),
      });
      assert.deepEqual(
        reports.map(({ tests }) => tests),
        expected.map(({ tests }) => tests),
      );
      assert.equal(summary.sequences, 3);
      assert.equal(trace.input.sha256, createHash('sha256').update(used).digest('hex'));
    }
  });

  it('reads hexadecimal digits, and names the place of a fault', async () => {
    const hex = Buffer.from(Buffer.from(BYTES).toString('hex'));
    const { summary } = await assess(hex, { ...OPTIONS, format: 'hex' });
    assert.equal(summary.sequences, Math.floor((BYTES.length * 8) / BITS));
    hex[10] = 0x7a;
    await assert.rejects(assess(hex, { ...OPTIONS, format: 'hex' }), {
      code: 'not-text',
      message: /^line 1, column 11: found "z"/,
    });
  });

  it('refuses hexadecimal numbers without leading zeros, also at the end of the input', async () => {
    const numbers = [...BYTES].map((byte) => `0x${byte.toString(16).padStart(2, '0')}`);
    const read = (changed: readonly string[]) =>
      assess(Buffer.from(changed.join(' ')), { ...OPTIONS, format: 'hex' });
    assert.equal((await read(numbers)).summary.sequences, 7);
    for (const at of [1, 500, BYTES.length - 1]) {
      await assert.rejects(read(numbers.with(at, '0x7')), {
        code: 'uneven-numbers',
        message: `line 1, column ${1 + at * 5}: found 1 digit after 0x, expected 2 as in the first number: write leading zeros, such as with "0x%02x"`,
      });
    }
    await assert.rejects(read(numbers.with(3, '0000')), /numbers with and without 0x/);
  });

  it('tells an empty input from one that ends within the skipped bits', async () => {
    const message = async (source: Uint8Array, offset: number): Promise<unknown> =>
      assess(source, { ...OPTIONS, offset }).catch(({ code, message }) => [code, message]);
    const none = ['empty', 'expected bits, got an empty input'];
    assert.deepEqual(await message(new Uint8Array(0), 0), none);
    const skipped = ['empty', 'expected bits after the 8,000 that are skipped, got none'];
    assert.deepEqual(await message(BYTES, 8_000), skipped);
  });

  it('ends an aborted run with the finished part', async () => {
    const abort = new AbortController();
    let written = '';
    const run = assess(inChunks(BYTES, 10), {
      ...OPTIONS,
      signal: abort.signal,
      onReport: () => abort.abort(new Error('enough')),
      write: {
        json: (text) => {
          written += text;
        },
      },
    });
    await assert.rejects(run, (error) => {
      assert.ok(error instanceof AssessError);
      assert.equal(error.code, 'aborted');
      assert.equal(error.partial?.summary.sequences, 1);
      assert.equal(error.partial.summary.complete, false);
      // Not what was read ahead.
      assert.equal(error.partial.trace.input.bytes, Math.ceil(BITS / 8));
      return true;
    });
    assert.equal(JSON.parse(written).summary.complete, false);
  });

  it('refuses inputs without enough bits', async () => {
    await assert.rejects(assess(new Uint8Array(0), OPTIONS), { code: 'empty' });
    await assert.rejects(assess(BYTES.subarray(0, 100), OPTIONS), { code: 'too-few-bits' });
    const many = { ...OPTIONS, sequences: 8 };
    await assert.rejects(assess(BYTES, many), { code: 'too-few-sequences' });
    await assert.rejects(assess(BYTES, { ...OPTIONS, bits: 0 }), RangeError);
    await assert.rejects(assess('text' as never, OPTIONS), TypeError);
  });

  it('refuses tests and supplements that do not exist', async () => {
    for (const option of ['tests', 'supplements']) {
      await assert.rejects(assess(BYTES, { ...OPTIONS, [option]: ['luck'] }), {
        name: 'RangeError',
        message: new RegExp(`^"${option}" expected names from .*, got luck$`),
      });
    }
  });
});

/** An endless input of one byte, which counts how often it is closed. */
class Endless implements ByteSource {
  readonly sizeBytes = undefined;
  closed = 0;

  async read(into: Uint8Array): Promise<number> {
    into.fill(0xa5);
    return into.length;
  }

  async close(): Promise<void> {
    this.closed += 1;
  }
}

describe('assess whose caller fails', () => {
  const options = { bits: 1000, workers: 0, format: 'binary' } as const;

  it('closes the input if the members of the trace fail', async () => {
    const source = new Endless();
    const input = (): never => {
      throw new TypeError('no input');
    };
    const failing = { ...options, write: { html: () => {} }, input };
    await assert.rejects(assess(source, failing), /no input/);
    assert.equal(source.closed, 1);
  });

  it('closes the input and wipes the sequence that was not taken', async () => {
    const source = new Endless();
    let seen: Uint8Array | undefined;
    const onSequence = ({ bytes }: InputSequence): never => {
      seen = bytes;
      throw new TypeError('no sequence');
    };
    await assert.rejects(assess(source, { ...options, onSequence }), /no sequence/);
    assert.equal(source.closed, 1);
    assert.deepEqual(seen, new Uint8Array(125));
  });
});
