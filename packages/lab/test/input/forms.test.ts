/** Containers, words of one bit and samples: what is recognised, and how rarely random bytes are taken for it. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { guessFormat, recogniseForm } from '../../src/index-node.ts';
import { containerOdds } from '../../src/input/forms/containers.ts';

const RANDOM = aesCtr(Buffer.alloc(32, 41), 8192);

/** Bytes of hexadecimal digits, with random ones behind them. */
const start = (hex: string, at = 0): Buffer =>
  Buffer.concat([RANDOM.subarray(0, at), Buffer.from(hex.replaceAll(' ', ''), 'hex'), RANDOM]);

const characters = (text: string, at = 0): Buffer =>
  start(Buffer.from(text, 'latin1').toString('hex'), at);

/** Bytes of which most bits are ones, so that they can be compressed. */
const BIASED = RANDOM.map((byte, i) => byte | (RANDOM[(i + 1) % RANDOM.length] as number));

/** The first bytes that the programs write. */
const HEADS: readonly (readonly [name: string, head: Uint8Array])[] = [
  ['gzip', gzipSync(RANDOM)],
  ['zstd', zstdCompressSync(RANDOM)],
  [
    'zstd',
    Buffer.concat([Buffer.from('502a4d180400000012345678', 'hex'), zstdCompressSync(RANDOM)]),
  ],
  ['xz', start('fd377a585a000004e6d6b446')],
  ['bzip2', start('425a683931415926535926')],
  ['lz4', start('04224d18644073d8')],
  ['lzma', start('5d00008000ffffffffffffffff00')],
  ['lzip', start('4c5a495001ac')],
  ['compress', compressHead()],
  ['zip', start('504b0304140000000800')],
  ['7z', start('377abcaf271c0004')],
  ['rar', start('526172211a0701003392')],
  ['tar', tarHead()],
  ['cpio', characters(`070701${'0000000a'.repeat(13)}a.bin\0`)],
  ['ar', characters('!<arch>\ndebian-binary')],
  ...[1, 6, 9].map((level) => ['zlib', deflateSync(BIASED, { level })] as const),
  ['zlib', deflateSync(RANDOM, { level: 0 })],
  ['openpgp', start('8c0d04090302 8ab026140d7a08a2 ff d2ed01')],
  ['openpgp', start('85018c03 0011223344556677 01 0bfe')],
  ['openpgp', start('845e03 0011223344556677 12 010740')],
  ['openpgp', Buffer.concat([Buffer.from('a301', 'hex'), deflateRawSync(BIASED)])],
  ['openpgp', Buffer.concat([Buffer.from('a302', 'hex'), deflateSync(BIASED)])],
  ['cms', start('3083030d40 06092a864886f70d0107')],
  ['openssl', characters('Salted__')],
  ['age', characters('age-encryption.org/v1\n')],
  ['pdf', characters('%PDF-1.7\n')],
  ['netpbm', characters('P5\n# made by hand\n640 480\n255\n')],
  ['netpbm', characters('P6 640 480 255\n')],
  ['avro', characters('Obj\x01\x04\x14avro.codec\x08null\x16avro.schema')],
  ['pickle', start('80044200350c00')],
  ['w64', start('726966662e91cf11a5d628db04c10000')],
  ['caf', characters('caff\0\x01\0\0desc')],
  ['png', start('89504e470d0a1a0a0000000d')],
  ['jpeg', characters('\xff\xd8\xff\xe0\0\x10JFIF\0\x01')],
  ['jpeg', Buffer.concat([start('ffd8ffdb0043').subarray(0, 71), start('ffc0')])],
  ['gif', characters('GIF89a')],
  ['bmp', start('424d36100000000000003600000028000000')],
  ['tiff', start('49492a0008000000')],
  ['netpbm', characters('P5\n# made by a camera\n640 480\n255\n')],
  ['wav', characters('RIFF\x24\x40\0\0WAVEfmt ')],
  ['flac', start('664c614300000022')],
  ['mp4', start('0000001c6674797069736f6d')],
  ['npy', start('934e554d5059010076007b')],
  ['hdf5', start('894844460d0a1a0a00')],
  ['mat', characters('MATLAB 5.0 MAT-file')],
  ['dicom', characters('DICM\x02\0\0\0', 128)],
  ['pickle', start('80049510270000000000004231')],
  ['sqlite', characters('SQLite format 3\0')],
  ['pcap', start('d4c3b2a102000400')],
  ['elf', start('7f454c4602010100')],
  ['pe', peHead()],
];

/** Codes below 256 only, of 9 bits, least significant first. */
function compressHead(): Buffer {
  const packed = Buffer.alloc(200);
  for (let bit = 0; bit < 9 * 150; bit++) {
    const code = RANDOM[Math.floor(bit / 9)] as number;
    packed[bit >>> 3] = (packed[bit >>> 3] as number) | (((code >> (bit % 9)) & 1) << (bit & 7));
  }
  return Buffer.concat([Buffer.from('1f9d90', 'hex'), packed]);
}

/** Without a magic, as before POSIX. */
function tarHead(): Buffer {
  const head = Buffer.alloc(512);
  head.write('a.bin');
  head.write('0000644\0', 100);
  head.fill(' ', 148, 156);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([head, RANDOM]);
}

function peHead(): Buffer {
  const head = Buffer.from(RANDOM);
  head.write('MZ');
  head.writeUInt32LE(128, 0x3c);
  head.write('PE\0\0', 128);
  return head;
}

describe('containers', () => {
  for (const [name, head] of HEADS) {
    it(`recognises ${name}, also by its first bytes alone`, () => {
      assert.equal(guessFormat(head), name);
      assert.equal(guessFormat(head.subarray(0, 1024)), name);
      // The signature without what follows it would be met too often, or is not this file's.
      assert.equal(guessFormat(head.subarray(1, 1024)), null);
    });
  }

  it('takes random bytes for one with a probability below 10^-9', () => {
    assert.ok(containerOdds() < 6e-10, String(containerOdds()));
    for (let at = 0; at + 64 <= RANDOM.length; at++) {
      assert.equal(guessFormat(RANDOM.subarray(at, at + 64)), null);
    }
  });

  it('asks for more than a magic of two or three bytes', () => {
    for (const [hex, at] of [
      ['424d'],
      ['4d5a'],
      ['1f9d90'],
      ['1f8b08ff'],
      ['ffd8ffe0'],
      ['504b'],
      ['789c'],
      ['a301'],
    ]) {
      assert.equal(guessFormat(start(hex as string, Number(at ?? 0))), null, hex);
    }
  });

  it('knows no format without a signature', () => {
    // The page on test files says so.
    for (const packed of [brotliCompressSync(RANDOM), deflateRawSync(BIASED)]) {
      assert.equal(guessFormat(packed), null);
    }
  });
});

/** Writes each bit as a word. */
function words(
  bytes: number,
  write: (view: DataView, at: number, bit: number) => void,
): Uint8Array {
  const view = new DataView(new ArrayBuffer(bytes * 500));
  for (let i = 0; i < 500; i++) write(view, i * bytes, (RANDOM[i] as number) & 1);
  return new Uint8Array(view.buffer);
}

describe('words of one bit', () => {
  const forms: readonly (readonly [says: RegExp, format: string, head: Uint8Array])[] = [
    [/every byte is 0 or 1$/, 'bit8', words(1, (view, at, bit) => view.setUint8(at, bit))],
    [/every byte is -1 or 1$/, 'bit8:-1,1', words(1, (v, at, bit) => v.setInt8(at, 2 * bit - 1))],
    [/every byte is 0 or 255$/, 'bit8:0,255', words(1, (v, at, bit) => v.setUint8(at, 255 * bit))],
    ...[true, false].flatMap((little) => {
      const order = little ? 'little' : 'big';
      const ends = `\\(${order}-endian\\) is 0 or 1$`;
      const name = (word: string): string => `bit${word}${little ? 'le' : 'be'}`;
      return [
        [
          new RegExp(`16-bit integer ${ends}`),
          name('16'),
          words(2, (v, at, b) => v.setInt16(at, b, little)),
        ],
        [
          new RegExp(`32-bit integer ${ends}`),
          name('32'),
          words(4, (v, at, b) => v.setInt32(at, b, little)),
        ],
        [
          new RegExp(`64-bit integer ${ends}`),
          name('64'),
          words(8, (v, at, b) => v.setBigInt64(at, BigInt(b), little)),
        ],
        [
          new RegExp(`32-bit floating-point number ${ends}`),
          name('f32'),
          words(4, (v, at, b) => v.setFloat32(at, b, little)),
        ],
        [
          new RegExp(`64-bit floating-point number ${ends}`),
          name('f64'),
          words(8, (v, at, b) => v.setFloat64(at, b, little)),
        ],
        [
          new RegExp(`64-bit floating-point number \\(${order}-endian\\) is -1 or 1$`),
          `${name('f64')}:-1,1`,
          words(8, (v, at, b) => v.setFloat64(at, 2 * b - 1, little)),
        ],
      ] as const;
    }),
  ];
  for (const [says, format, head] of forms) {
    it(`recognises ${says.source}`, () => {
      const form = recogniseForm(head);
      assert.match(form?.says ?? '', says);
      assert.deepEqual(form?.remedy, { kind: 'format', format });
      // The head may end within a word, and a short input has few of them.
      assert.equal(recogniseForm(head.subarray(0, 13 * 8 + 3))?.says, form.says);
    });
  }

  it('leaves a dead generator to the tests', () => {
    const dead = new Uint8Array(4096);
    assert.equal(guessFormat(dead), null);
    assert.equal(guessFormat(dead.fill(1)), null);
    assert.equal(guessFormat(dead.fill(0, 100)), null);
    assert.equal(
      guessFormat(Uint8Array.from({ length: 4096 }, (_, i) => (i % 2 ? 0x55 : 0xaa))),
      null,
    );
  });
});

describe('samples', () => {
  const byte = (i: number): number => RANDOM[i] as number;
  const uniform = (i: number): number => RANDOM.readUInt32LE(4 * i) / 2 ** 32;
  /** 500 samples of 32 random bits at most. */
  const samples = (
    bytes: number,
    write: (view: DataView, at: number, i: number) => void,
  ): Buffer => {
    const view = new DataView(new ArrayBuffer(bytes * 500));
    for (let i = 0; i < 500; i++) write(view, i * bytes, i);
    return Buffer.from(view.buffer);
  };
  const forms: readonly (readonly [says: RegExp, bytes: number, head: Uint8Array])[] = [
    [/every byte is 0x48 or 0x54$/, 1, Buffer.from(RANDOM.map((x) => (x & 1 ? 0x48 : 0x54)))],
    [
      /every 16-bit word is 0x0180 or 0xff7f$/,
      2,
      samples(2, (v, at, i) => v.setInt16(at, byte(i) & 1 ? 32767 : -32767, true)),
    ],
    [/every byte is below 16$/, 1, Buffer.from(RANDOM.map((x) => x & 15))],
    ...[true, false].flatMap((little) => {
      const order = `\\(${little ? 'little' : 'big'}-endian\\)`;
      return [
        [
          new RegExp(`16-bit integer ${order} is below 256$`),
          2,
          samples(2, (v, at, i) => v.setInt16(at, byte(i), little)),
        ],
        [
          new RegExp(`32-bit integer ${order} is below 256$`),
          4,
          samples(4, (v, at, i) => v.setInt32(at, byte(i), little)),
        ],
        [
          new RegExp(`64-bit integer ${order} is below 256$`),
          8,
          samples(8, (v, at, i) => v.setBigInt64(at, BigInt(byte(i)), little)),
        ],
        [
          new RegExp(`64-bit integer ${order} is below 4294967296$`),
          8,
          samples(8, (v, at, i) => v.setBigInt64(at, BigInt(RANDOM.readUInt32LE(4 * i)), little)),
        ],
        [
          new RegExp(`32-bit floating-point number ${order} is between`),
          4,
          samples(4, (v, at, i) => v.setFloat32(at, uniform(i), little)),
        ],
        [
          new RegExp(`64-bit floating-point number ${order} is between`),
          8,
          samples(8, (v, at, i) => v.setFloat64(at, 2 * uniform(i) - 1, little)),
        ],
      ] as const;
    }),
  ];
  for (const [says, bytes, head] of forms) {
    it(`recognises ${says.source}`, () => {
      for (const part of [head, head.subarray(0, 16 * 8 + 3)]) {
        const form = recogniseForm(part);
        assert.match(form?.says ?? '', says);
        // Samples of a byte are what an estimate of entropy reads.
        assert.equal(form?.wordBytes, bytes);
      }
    });
  }

  it('leaves generators with a defect to the tests', () => {
    const stuck = [
      RANDOM.map((x) => x & 0x7f),
      RANDOM.map((x, i) => (i % 4 === 3 ? 0 : x)),
      RANDOM.map((_, i) => (i % 2 ? 0x5a : 0xa5)),
      samples(4, (view, at, i) => view.setUint32(at, i)),
      Uint8Array.from(RANDOM.subarray(0, 4096)).fill(0, 0, 4000),
    ];
    for (const [index, head] of stuck.entries())
      assert.equal(guessFormat(head), null, String(index));
  });
});
