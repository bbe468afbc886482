/**
 * Mixtures of forms: whatever is done to a file, its reader gives the exact bits of the source from their start, or ends with
 * an error. Fixed seeds, so that a failure can be repeated.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { AssessError, openReader } from '../../src/index-node.ts';
import {
  canonicalListing,
  chunk,
  intelHex,
  npy,
  odListing,
  sRecords,
  wav,
  xxdListing,
} from '../support/form-files.ts';

const RUNS = { numRuns: 60, seed: 20_261_129 };

interface Made {
  readonly file: Buffer;
  readonly source: Buffer;
  readonly format: string;
}

/** Forms that name themselves, whose files need no format. */
const NAMED: readonly string[] = ['ihex', 'srec', 'listing', 'npy', 'wav', 'gzip'];

const text = (content: string, source: Uint8Array, format: string): Made => ({
  file: Buffer.from(content),
  source: Buffer.from(source),
  format,
});

const csv = (bytes: Uint8Array, base: 10 | 16): string =>
  `time;value\n${Array.from(bytes, (byte, i) => `${1000 + i};${byte.toString(base).padStart(base === 16 ? 2 : 1, '0')}\n`).join('')}`;

const MAKERS: Readonly<Record<string, (bytes: Uint8Array) => Made>> = {
  'Intel HEX': (bytes) => text(intelHex(bytes), bytes, 'ihex'),
  'S-records': (bytes) => text(sRecords(bytes), bytes, 'srec'),
  'a listing of od': (bytes) => text(odListing(bytes), bytes, 'listing'),
  'a listing with hexadecimal offsets': (bytes) => text(odListing(bytes, 16), bytes, 'listing'),
  'a listing of xxd': (bytes) => text(xxdListing(bytes), bytes, 'listing'),
  'a listing of hexdump -C': (bytes) => text(canonicalListing(bytes), bytes, 'listing'),
  hex: (bytes) => text(Buffer.from(bytes).toString('hex'), bytes, 'hex'),
  base64: (bytes) => text(Buffer.from(bytes).toString('base64'), bytes, 'base64'),
  'a column of numbers': (bytes) => text(csv(bytes, 10), bytes, 'csv:2:8'),
  'a column of hexadecimal numbers': (bytes) => text(csv(bytes, 16), bytes, 'csv:2:hex'),
  numbers: (bytes) => text(`[${[...bytes].join(', ')}]`, bytes, 'numbers:8'),
  'an array': (bytes) => ({
    file: npy(bytes, '|u1', `${bytes.length},`),
    source: Buffer.from(bytes),
    format: 'npy',
  }),
  'a WAV with odd chunks': (bytes) => ({
    file: wav(bytes, {
      bits: 8,
      before: [chunk('LIST', Buffer.from('odd'))],
      after: [chunk('id3 ', Buffer.from('x'))],
    }),
    source: Buffer.from(bytes),
    format: 'wav',
  }),
  gzip: (bytes) => ({ file: gzipSync(bytes), source: Buffer.from(bytes), format: 'gzip' }),
  'words of a bit': (bytes) => {
    const bits = [...bytes].flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((i) => (byte >> i) & 1));
    return {
      file: Buffer.from(Uint16Array.from(bits).buffer),
      source: Buffer.from(bytes),
      format: 'bit16le',
    };
  },
};

/** Random bytes, with at least one sample of 128 and more, so that 8 bits are measured. */
const sources = fc
  .tuple(fc.uint8Array({ minLength: 60, maxLength: 600 }), fc.nat())
  .map(([bytes]) => Uint8Array.from([200, ...bytes]));

interface Outcome {
  readonly hex: string;
  readonly error: AssessError | null;
}

/** Returns what was read before the end or the error. */
async function read(file: Uint8Array, format: string | undefined): Promise<Outcome> {
  const reader = openReader(file, format);
  let hex = '';
  try {
    for (;;) {
      const { bytes, bits } = await reader.readSequence(160);
      hex += Buffer.from(bytes.subarray(0, bits >>> 3)).toString('hex');
      if (bits < 160) break;
    }
    await reader.finish?.();
    return { hex, error: null };
  } catch (error) {
    if (!(error instanceof AssessError)) throw error;
    return { hex: error.code === 'damaged' ? '' : hex, error };
  } finally {
    await reader.close();
  }
}

/** The bits that came out are a part of the source: no reader sees that records before the first one are missing. */
function assertOf({ hex }: Outcome, source: Buffer, what: string): void {
  const at = source.indexOf(Buffer.from(hex, 'hex'));
  assert.ok(at >= 0, `${what}: read other bits than those of the source`);
}

/** Shorter files are not recognised. */
const FEWEST_BYTES = 64;

/** Reads a file by its form, and without one if it is long enough to be recognised, or the text that it is. */
async function assertReads(
  made: Made,
  file: Uint8Array,
  source: Buffer,
  what: string,
): Promise<void> {
  assertOf(await read(file, made.format), source, what);
  if (file.length < FEWEST_BYTES || !NAMED.includes(made.format)) return;
  assertOf(await read(file, undefined), source, `${what}, without a format`);
}

for (const [name, make] of Object.entries(MAKERS)) {
  describe(`a mixture with ${name}`, () => {
    const check = (
      what: string,
      change: (made: Made, bytes: Uint8Array, at: number) => { file: Uint8Array; source?: Buffer },
    ): void => {
      it(`gives the bits of the source, or an error: ${what}`, async () => {
        await fc.assert(
          fc.asyncProperty(sources, fc.nat(100_000), async (bytes, at) => {
            const made = make(bytes);
            const { file, source = made.source } = change(made, bytes, at);
            await assertReads(made, file, source, what);
          }),
          RUNS,
        );
      });
    };

    it('gives all of its bits if nothing is done to it', async () => {
      await fc.assert(
        fc.asyncProperty(sources, async (bytes) => {
          const { file, source, format } = make(bytes);
          const expected = { hex: source.toString('hex'), error: null };
          assert.deepEqual(await read(file, format), expected);
          if (NAMED.includes(format)) assert.deepEqual(await read(file, undefined), expected);
        }),
        RUNS,
      );
    });

    // Nothing shows that the last digits of a decimal number are missing.
    const isDecimal = name === 'a column of numbers' || name === 'numbers';
    check('cut off', ({ file }, _, at) => {
      const cut = file.subarray(0, at % file.length);
      return {
        file: isDecimal
          ? cut.subarray(
              0,
              cut.findLastIndex((x) => x < 0x30),
            )
          : cut,
      };
    });

    check('followed by another of its form', ({ file, source }, bytes) => ({
      file: Buffer.concat([file, make(bytes.subarray(1)).file]),
      source: Buffer.concat([source, source.subarray(1)]),
    }));

    check('followed by other forms', ({ file }, bytes, at) => {
      const others = Object.values(MAKERS);
      const other = others[at % others.length] as (bytes: Uint8Array) => Made;
      const { file: next } = other(bytes.subarray(0, 40));
      // Digits of another base may be digits of this one: only what came before is the source's.
      return { file: Buffer.concat([file, Buffer.from('\n!\n'), next]) };
    });

    check('with zero bytes in it', ({ file }, _, at) => {
      // Within the first bytes, which name a form, it is another file.
      const place = 64 + (at % (file.length - 64));
      return {
        file: Buffer.concat([file.subarray(0, place), Buffer.alloc(3), file.subarray(place)]),
      };
    });

    it('has other line ends and a byte order mark, and reads the same', async () => {
      const isText = /[^\t-\r -~]/.test(make(new Uint8Array(60).fill(65)).file.toString('latin1'));
      if (isText) return;
      await fc.assert(
        fc.asyncProperty(sources, async (bytes) => {
          const { file, source, format } = make(bytes);
          const lines = file.toString().replace(/\r?\n/g, '\r\n');
          assertOf(await read(Buffer.from(`\ufeff${lines}`), format), source, 'lines');
        }),
        RUNS,
      );
    });
  });
}

describe('lines', () => {
  const listings = ['Intel HEX', 'S-records', 'a listing of od', 'a listing of xxd'] as const;
  for (const name of listings) {
    it(`of ${name} that are left out, doubled, turned or cut never give other bits`, async () => {
      await fc.assert(
        fc.asyncProperty(
          sources,
          fc.nat(1000),
          fc.constantFrom('drop', 'double', 'swap', 'cut', 'star'),
          async (bytes, at, change) => {
            const made = (MAKERS[name] as (bytes: Uint8Array) => Made)(bytes);
            const { file, source } = made;
            const lines = file.toString().split(/(?<=\n)/);
            const i = at % (lines.length - 1);
            const [line = '', next = ''] = lines.slice(i, i + 2);
            const changed = {
              drop: [],
              double: [line, line],
              swap: [next, line],
              cut: [`${line.slice(0, at % line.length)}\n`],
              star: ['*\n'],
            }[change];
            lines.splice(i, change === 'swap' ? 2 : 1, ...changed);
            await assertReads(made, Buffer.from(lines.join('')), source, change);
          },
        ),
        { ...RUNS, numRuns: 200 },
      );
    });
  }

  it('of records with one digit changed are found by their checksum', async () => {
    await fc.assert(
      fc.asyncProperty(sources, fc.nat(10_000), fc.nat(15), async (bytes, at, digit) => {
        for (const name of ['Intel HEX', 'S-records'] as const) {
          const { file, source } = (MAKERS[name] as (bytes: Uint8Array) => Made)(bytes);
          const characters = [...file.toString()];
          const places = characters.flatMap((c, i) => (/[0-9A-F]/.test(c) ? [i] : []));
          const place = places[at % places.length] as number;
          const before = characters[place];
          characters[place] = digit.toString(16).toUpperCase();
          if (characters[place] === before) continue;
          const format = name === 'Intel HEX' ? 'ihex' : 'srec';
          const outcome = await read(Buffer.from(characters.join('')), format);
          assertOf(outcome, source, name);
          // The type of an S-record is not summed.
          if (!/S/.test(characters[place - 1] ?? '')) assert.ok(outcome.error, name);
        }
      }),
      RUNS,
    );
  });
});

describe('a container', () => {
  it('within any form gives no bits, unless it is chosen to', async () => {
    await fc.assert(
      fc.asyncProperty(sources, fc.boolean(), async (bytes, isZstd) => {
        const packed = isZstd ? zstdCompressSync(bytes) : gzipSync(bytes);
        for (const name of ['Intel HEX', 'S-records', 'a listing of xxd', 'base64', 'gzip']) {
          const { file, format } = (MAKERS[name] as (bytes: Uint8Array) => Made)(packed);
          const { hex, error } = await read(file, format);
          assert.equal(hex, '', name);
          assert.equal(error?.code, 'other-form', name);
        }
      }),
      { ...RUNS, numRuns: 20 },
    );
  });

  it('of deflate after the end of a gzip gives no bits', async () => {
    const packed = gzipSync(Buffer.alloc(500, 7));
    const { error, hex } = await read(
      Buffer.concat([packed, deflateRawSync(Buffer.alloc(500, 9))]),
      undefined,
    );
    assert.deepEqual([error?.code, hex], ['damaged', '']);
  });
});
