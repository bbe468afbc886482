/** Long streams of a run: how sequences become streams, and what the reports say of them. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { type LongStreamReport, runPackedSuite } from '../../../sp800-22/src/index-node.ts';
import { copyBits, LongStreamTests } from '../../src/assess/long-streams.ts';
import { assess } from '../../src/index-node.ts';
import { commandJson, makeFolder, removeFolder, runCommand } from '../support/run-command.ts';

const BITS = 2 ** 20;
const sound = (length: number): Buffer => aesCtr(Buffer.alloc(32, 3), length);

/** The top 8 bits of RANDU, which SP 800-22 passes. */
function randu(length: number): Uint8Array {
  let x = 1;
  return Uint8Array.from({ length }, () => {
    x = Math.imul(65539, x);
    return (x >>> 23) & 255;
  });
}

/** Members of the JSON. */
interface StreamsJson {
  readonly standard: string;
  readonly passed: boolean;
  readonly tests: readonly object[];
}

interface SourceJson {
  readonly summary: { readonly passed: boolean | null; readonly long_streams: StreamsJson };
  readonly options: object;
}

/** A report without tests. */
const SHORT = runPackedSuite(sound(2 ** 17), { only: [] });

let folder = '';
before(() => {
  folder = makeFolder();
});
after(() => removeFolder(folder));

describe('copied bits', () => {
  it('are those of the source, from any bit to any bit', () => {
    const bit = (bytes: Uint8Array, i: number): number => (bytes[i >>> 3] >>> (7 - (i & 7))) & 1;
    const place = fc.nat(70);
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 20, maxLength: 20 }),
        place,
        place,
        place,
        (source, from, to, count) => {
          const target = new Uint8Array(20);
          copyBits(source, from, target, to, count);
          for (let i = 0; i < 160; i++) {
            const copied = i >= to && i < to + count;
            // A byte that is begun has zeros behind the copied bits.
            assert.equal(bit(target, i), copied ? bit(source, from + i - to) : 0);
          }
        },
      ),
    );
  });
});

describe('the long streams of a run', () => {
  const report = (bits: number): LongStreamReport => ({ bits, results: [] });
  const sequence = (bytes: number) => ({
    bytes: new Uint8Array(bytes),
    bits: 8 * bytes,
    offsetBits: 0,
  });

  it('have 2^26 bits each, and the last one what is left', async () => {
    const lengths: number[] = [];
    const streams = new LongStreamTests(async (bytes) => {
      lengths.push(bytes.length);
      return report(8 * bytes.length);
    }, 1);
    for (let i = 0; i < 5; i++) streams.take(sequence(2 ** 22));
    assert.deepEqual(
      (await streams.end()).map(({ bits }) => bits),
      [2 ** 26, 2 ** 26, 2 ** 25],
    );
    assert.deepEqual(lengths, [2 ** 23, 2 ** 23, 2 ** 22]);
  });

  it('leave out a rest below 2^20 bits', async () => {
    const streams = new LongStreamTests(async () => report(0), 1);
    streams.take(sequence(2 ** 17 - 1));
    assert.deepEqual(await streams.end(), []);
  });

  it('wait for room, and reject if a test fails', async () => {
    let settle = (_: LongStreamReport | Error): void => {};
    const streams = new LongStreamTests(
      () =>
        new Promise((resolve, reject) => {
          settle = (result) => (result instanceof Error ? reject(result) : resolve(result));
        }),
      1,
    );
    streams.take(sequence(2 ** 23));
    let hasRoom = false;
    const room = streams.room().then(() => {
      hasRoom = true;
    });
    await Promise.resolve();
    assert.equal(hasRoom, false);
    settle(report(1));
    await room;
    streams.take(sequence(2 ** 23));
    settle(new Error('out of memory'));
    const failed = { code: 'worker', message: 'the tests on a long stream failed: out of memory' };
    await assert.rejects(streams.room(), failed);
    await assert.rejects(streams.end(), failed);
  });

  it('end at once on an abort, when only a stream is still in work', async () => {
    const abort = new AbortController();
    const worker = {
      postMessage(message: object, _: unknown): void {
        // Answers for sequences alone.
        if ('sequence' in message)
          queueMicrotask(() => worker.onmessage?.({ data: { report: SHORT } }));
        if ('stream' in message) queueMicrotask(() => abort.abort('enough'));
      },
      terminate: async () => {},
      onmessage: undefined as ((event: { data: unknown }) => void) | undefined,
      onerror: undefined,
    };
    const options = { bits: BITS, sequences: 1, tests: ['frequency'] as const, thorough: true };
    const run = assess(sound(2 ** 17), {
      ...options,
      workers: 1,
      createWorker: () => worker as never,
      signal: abort.signal,
    });
    await assert.rejects(run, { code: 'aborted', message: 'aborted: enough' });
  });

  it('are the same however the input is cut', async () => {
    const bytes = sound(2 ** 17 + 40);
    const of = async (bits: number, sequences: number) => {
      const options = { bits, sequences, offset: 3, workers: 0, thorough: true, supplements: [] };
      const { summary } = await assess(bytes, { ...options, tests: ['frequency'] });
      return summary.longStreams;
    };
    const whole = await of(BITS, 1);
    assert.equal(whole?.bits, BITS);
    assert.deepEqual(await of(BITS / 4, 4), whole);
  });
});

describe('phm-lab assess --thorough', () => {
  it('fails RANDU in text, JSON and the page, and says that it is not part of SP 800-22', async () => {
    const file = join(folder, 'randu.bin');
    writeFileSync(file, randu(2 ** 18));
    const page = join(folder, 'randu.html');
    const args = ['assess', file, '--bits', String(BITS), '--sequences', 'all', '--threads', '2'];
    const { code, stdout } = await runCommand([...args, '--thorough', '--fail', '--html', page]);
    assert.equal(code, 1);
    assert.match(stdout, /^Long streams, not part of SP 800-22: 1 stream of 2,097,152 bits$/m);
    assert.match(stdout, /^birthday_spacings +0 +1 +FAILED {2}bits 32, /m);
    assert.match(stdout, /^Long streams: FAILED: the smallest of 20 p-values, corrected, is /m);
    assert.match(stdout, /^supplement +sequences passed$/m);
    assert.match(stdout, /^Long streams +tested$/m);
    const html = readFileSync(page, 'utf8');
    assert.match(html, /Source: FAILED \(tests \w+, supplements \w+, long streams FAILED\)<\/h2>/);
    assert.match(stdout, /^Source: FAILED \(.*, long streams FAILED\)\.$/m);
    const csv = await runCommand([...args, '--thorough', '--csv']);
    assert.match(csv.stdout, /^# Source,"FAILED \(.*, long streams FAILED\)"$/m);
    assert.match(csv.stdout, /^# Long streams,"FAILED: the smallest of /m);
    assert.match(html, /<h2>Long streams, not part of SP 800-22<\/h2>/);
    const { summary, options } = await commandJson<SourceJson>([...args, '--thorough']);
    assert.deepEqual([summary.passed, summary.long_streams.passed], [false, false]);
    assert.equal(summary.long_streams.standard, 'not part of SP 800-22');
    assert.ok('thorough' in options);
    const { options: plain } = await commandJson<SourceJson>(args);
    assert.ok(!('thorough' in plain));
  });

  it('passes sound bits, and has the streams also in the JSON of a sole sequence', async () => {
    const file = join(folder, 'sound.bin');
    writeFileSync(file, sound(2 ** 17));
    const args = ['assess', file, '--thorough'];
    const { long_streams: all } = await commandJson<{ long_streams: StreamsJson }>(args);
    assert.equal(all.passed, true);
    assert.equal(all.tests.length, 20);
  });

  it('says that there is none in a short input', async () => {
    const file = join(folder, 'short.bin');
    writeFileSync(file, sound(2 ** 12));
    const { code, stdout } = await runCommand([
      'assess',
      file,
      '--thorough',
      '--fail',
      '--test',
      'runs',
    ]);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^Long streams, .*: none, the sequences have fewer than 1,048,576 bits together\.$/m,
    );
  });
});
