/** What each form is read as: the bits of the source, or an error that names the place. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { FORMS } from '../../src/index-node.ts';
import { parseFormat } from '../../src/input/readers/table.ts';
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
import { readForm, refusal } from '../support/read-form.ts';

const BYTES = aesCtr(Buffer.alloc(32, 61), 3001);
const HEX = BYTES.toString('hex');

const bytes = (digits: string): Buffer => Buffer.from(digits.replaceAll(' ', ''), 'hex');

describe('forms of samples', () => {
  const cases: readonly (readonly [format: string, input: string, bits: string, of?: number])[] = [
    // Bits in the order of time.
    ['binary:lsb', '01 80 c3', '80 01 c3'],
    // Every bit of a sample, most significant first.
    ['u8', '12 ff', '12 ff'],
    ['u16le', '34 12 78 56', '12 34 56 78'],
    ['s16le', '34 12 78 56', '12 34 56 78'],
    ['u16be', '12 34', '12 34'],
    ['u24le', '03 02 01', '01 02 03'],
    ['s32be', '01 02 03 04', '01 02 03 04'],
    ['u64le', '08 07 06 05 04 03 02 01', '01 02 03 04 05 06 07 08'],
    // Some bits: 0 is the lowest.
    ['u8:0-3', '1a 2b', 'ab'],
    ['u8:7-4', '1a 2b', '12'],
    ['u16le:0-7', '34 12 78 56', '34 78'],
    ['u16be:4-11', '12 34', '23'],
    ['u8:0-0', '01 00 01 01 00', 'b0', 5],
    ['u32le:30-33', '00', '', -1],
    // Numbers in the low or the high bits.
    ['u12in16le', '34 02 bc 0a', '23 4a bc'],
    ['u12in16be', '02 34 0a bc', '23 4a bc'],
    ['s12in16be', 'ff 34 02 bc', 'f3 42 bc'],
    ['u12in16le:high', '40 23 c0 ab', '23 4a bc'],
    ['u4in8', '0a 0b', 'ab'],
    ['u12in16le', '34 02 bc 0a 01 00', '23 4a bc 00 10', 36],
    // Without gaps.
    ['packed12', '12 34 56', '12 34 56'],
    ['packed12:lsb', '21 43 65', '32 16 54'],
    ['packed4:lsb', '21 43', '12 34'],
    // One bit in each word.
    ['bit8', '00 01 01 00 01', '68', 5],
    ['bit8:0,255', '00 ff ff 00', '60', 4],
    ['bit8:-1,1', 'ff 01 01 ff', '60', 4],
    ['bit8:48,49', '30 31', '40', 2],
    ['bit16le', '01 00 00 00', '80', 2],
    ['bit32be:-1,1', '00 00 00 01 ff ff ff ff', '80', 2],
    ['bit64le', '01 00 00 00 00 00 00 00', '80', 1],
    ['bitf32le', '00 00 80 3f 00 00 00 00', '80', 2],
    ['bitf64be:-1,1', 'bf f0 00 00 00 00 00 00 3f f0 00 00 00 00 00 00', '40', 2],
  ];
  for (const [format, input, bits, of = bits.replaceAll(' ', '').length * 4] of cases) {
    if (of < 0) {
      it(`refuses ${format}`, () => assert.throws(() => parseFormat(format), RangeError));
      continue;
    }
    it(`reads ${format}`, async () => {
      const read = await readForm(bytes(input), format);
      assert.deepEqual(read, { hex: bits.replaceAll(' ', ''), bits: of, format });
    });
  }

  const spread: readonly (readonly [format: string, input: string, samples: string])[] = [
    ['u16le:0-3', '3a 12 7b 56', '0a 0b'],
    ['u4in8', '0a 0b', '0a 0b'],
    ['packed4:lsb', '21 43', '01 02 03 04'],
    ['bit16le', '01 00 00 00', '01 00'],
    ['u8', '01 ff', '01 ff'],
    ['csv:1:4', Buffer.from('10\n11\n').toString('hex'), '0a 0b'],
  ];
  for (const [format, input, samples] of spread) {
    it(`gives each sample of ${format} a byte`, async () => {
      const { hex } = await readForm(bytes(input), format, { isSpread: true });
      assert.equal(hex, samples.replaceAll(' ', ''));
    });
  }

  it('has no byte for samples of more than 8 bits', async () => {
    await assert.rejects(
      async () => readForm(BYTES, 'u16le', { isSpread: true }),
      /at most 8 bits/,
    );
  });

  const faults: readonly (readonly [format: string, input: string, says: RegExp])[] = [
    ['u16le', '01 02 03', /ends within a word of 2 bytes: 1 byte is left over/],
    ['u12in16le', '34 02 bc 1a', /word 2, at byte 2, is 0x1abc: .*12 bits; u16le:0-11 reads/],
    ['s12in16le', '34 f2', /word 1, at byte 0, is 0xf234/],
    ['u12in16le:high', '41 23', /u16le:4-15 reads/],
    ['packed12', '12', /ends within a sample of 12 bits/],
    ['bit8', '00 01 02', /word 3, at byte 2, is 02: expected 00 for 0 or 01 for 1/],
    ['bit16le', '01 00 00', /ends within a word/],
  ];
  for (const [format, input, says] of faults) {
    it(`refuses what is no ${format}: ${input}`, async () => {
      const { code, message } = await refusal(bytes(input), format);
      assert.equal(code, 'wrong-form');
      assert.match(message, says);
    });
  }
});

describe('forms of bytes', () => {
  const lines = (text: string): string[] => text.split(/(?<=\n)/);
  const ihex = intelHex(BYTES);
  const srec = sRecords(BYTES);
  const od = odListing(BYTES);
  const xxd = xxdListing(BYTES);

  it('reads Intel HEX whose addresses go on in the next segment, or after a linear address', async () => {
    const record = (address: number, type: number, data: Uint8Array): string => {
      const bytes = [data.length, address >> 8, address & 255, type, ...data];
      const sum = bytes.reduce((total, byte) => total + byte, 0);
      return `:${Buffer.from([...bytes, -sum & 255]).toString('hex')}\n`;
    };
    const [first, second] = [BYTES.subarray(0, 16), BYTES.subarray(16, 32)];
    const end = record(0, 1, new Uint8Array(0));
    for (const base of [record(0, 2, Uint8Array.of(0x10, 0)), record(0, 4, Uint8Array.of(0, 1))]) {
      const file = record(0xfff0, 0, first) + base + record(0, 0, second) + end;
      assert.equal((await readForm(Buffer.from(file), 'ihex')).hex, BYTES.toString('hex', 0, 32));
    }
    const gap = record(0xfff0, 0, first) + record(0, 2, Uint8Array.of(0x20, 0));
    const { message } = await refusal(Buffer.from(gap + record(0, 0, second) + end), 'ihex');
    assert.match(message, /address 0x20000 leaves a gap after 0x10000/);
  });

  const files: readonly (readonly [name: string, file: string, format: string])[] = [
    ['Intel HEX', ihex, 'ihex'],
    ['S-records', srec, 'srec'],
    ['a listing with octal offsets', od, 'listing'],
    ['a listing with decimal offsets', odListing(BYTES, 10), 'listing'],
    ['a listing with hexadecimal offsets', odListing(BYTES, 16), 'listing'],
    ['a listing of xxd', xxd, 'listing'],
    ['a listing of hexdump -C', canonicalListing(BYTES), 'listing'],
  ];
  for (const [name, file, format] of files) {
    it(`recognises and reads ${name}, with any line ends`, async () => {
      for (const text of [file, file.replace(/\r?\n/g, '\r\n'), `\ufeff${file}`]) {
        const expected = { hex: HEX, bits: 8 * BYTES.length, format };
        assert.deepEqual(await readForm(Buffer.from(text)), expected);
        assert.deepEqual(await readForm(inChunks(Buffer.from(text), 77)), expected);
        assert.deepEqual(await readForm(gzipSync(text)), { ...expected, format: `gzip:${format}` });
      }
    });

    it(`gives no bits of ${name} with one line changed, left out, twice or cut`, async () => {
      const all = lines(file);
      for (const at of [1, 40, 150]) {
        const line = all[at] as string;
        const changed = [
          all.toSpliced(at, 1),
          all.toSpliced(at, 1, line, line),
          all.toSpliced(at, 1, line.slice(0, line.length >> 2)),
          all.toSpliced(at, 1, line.replace(/[0-9a-f](?=[\r\n|. ]|$)/i, 'x')),
        ];
        for (const [i, text] of changed.entries()) {
          const input = Buffer.from(text.join(''));
          const { message } = await refusal(input, format);
          assert.match(message, /line \d+|cut off|end record/, `${at} ${i}`);
        }
      }
    });
  }

  const faults: readonly (readonly [what: string, file: string, format: string, says: RegExp])[] = [
    ['a wrong checksum', ihex.replace(/..(?=\r\n$)/, '00'), 'ihex', /line \d+: the checksum/],
    ['no end record', lines(ihex).slice(0, -1).join(''), 'ihex', /no end record: it is cut off/],
    ['a record after the end', ihex + lines(ihex)[0], 'ihex', /more after the end record/],
    ['a gap', lines(ihex).toSpliced(3, 1).join(''), 'ihex', /line 4: address 0x40 leaves a gap/],
    ['records twice', `${lines(ihex)[0]}${ihex}`, 'ihex', /line 2: .* overlaps what ends at 0x10/],
    ['a wrong count', srec.replace(/S5.*\n/, 'S5030001FB\n'), 'srec', /count of records is 1, but/],
    ['no end', lines(srec).slice(0, -1).join(''), 'srec', /no end record/],
    ['a star', lines(od).toSpliced(3, 1, '*\n').join(''), 'listing', /line 4: "\*" stands for/],
    ['no last offset', lines(od).slice(0, -1).join(''), 'listing', /does not end with an offset/],
    ['two listings', od + od, 'listing', /more after the offset at the end/],
    ['turned words', xxd.replace(/ (..)(..) /g, ' $2$1 '), 'listing', /beside the digits are not/],
    ['decimal bytes', '0000000 100  12 200\n0000003\n', 'listing', /line \d: /],
    ['characters', '0000000   h   i  \\n\n0000003\n', 'listing', /line 1: expected bytes/],
  ];
  for (const [what, file, format, says] of faults) {
    it(`refuses ${format} with ${what}`, async () => {
      const { code, message } = await refusal(Buffer.from(file), format);
      assert.equal(code, 'wrong-form');
      assert.match(message, says);
    });
  }

  it('looks at what a form holds, unless that is said to be right', async () => {
    const container = gzipSync(BYTES);
    for (const [file, format] of [
      [intelHex(container), 'ihex'],
      [sRecords(container), 'srec'],
      [odListing(container), 'listing'],
      [container.toString('base64'), 'base64'],
    ] as const) {
      const { figures, message } = await refusal(Buffer.from(file), format);
      assert.equal(figures.form?.name, 'gzip');
      assert.match(message, /what it holds looks like gzip: write what it holds to a file/);
      const { hex } = await readForm(Buffer.from(file), `${format}:binary`);
      assert.equal(hex, container.toString('hex'));
    }
  });

  it('refuses digits that a listing follows, wherever it begins', async () => {
    const digits = aesCtr(Buffer.alloc(32, 63), 5000).toString('hex').replace(/.{64}/g, '$&\n');
    for (const [listing, name] of [
      [ihex, 'intel_hex'],
      [od, 'listing'],
      [odListing(BYTES, 16), 'listing'],
    ] as const) {
      const { code, figures } = await refusal(Buffer.from(`${digits}\n${listing}`), 'hex');
      assert.deepEqual([code, figures.form?.name], ['other-form', name]);
    }
    for (const text of [digits.repeat(40), '0'.repeat(64).concat('\n').repeat(99)]) {
      assert.equal((await readForm(Buffer.from(text), 'hex')).hex, text.replaceAll('\n', ''));
    }
  });

  it('reads an image of more than 64 KiB, across segments', async () => {
    const image = aesCtr(Buffer.alloc(32, 62), 200_000);
    const { hex } = await readForm(Buffer.from(intelHex(image)));
    assert.equal(hex, image.toString('hex'));
  });
});

describe('arrays and sound', () => {
  const even = BYTES.subarray(0, 3000);
  const turned = Buffer.from(even).swap16().toString('hex');

  it('reads arrays of integers in either order, and of bool', async () => {
    const read = async (data: Uint8Array, descr: string, count: number): Promise<string> =>
      (await readForm(npy(data, descr, `${count},`))).hex;
    assert.equal(await read(even, '<u2', 1500), turned);
    assert.equal(await read(even, '>i2', 1500), even.toString('hex'));
    assert.equal(await read(even, '|u1', 3000), even.toString('hex'));
    assert.equal(await read(even, '<i8', 375), Buffer.from(even).swap64().toString('hex'));
    const bits = even.map((byte) => byte & 1);
    const { hex, bits: count, format } = await readForm(npy(bits.subarray(0, 500), '|b1', '500,'));
    assert.deepEqual([count, format], [500, 'npy']);
    assert.equal(hex, (await readForm(bits.subarray(0, 500), 'bit8')).hex);
    const low = await readForm(npy(even, '<u2', '1500,'), 'npy:0-7');
    assert.equal(low.hex, (await readForm(even, 'u16le:0-7')).hex);
  });

  it('refuses other arrays by name, and ones that are cut off or too long', async () => {
    for (const [file, says] of [
      [npy(even, '<f4', '750,'), /has the type <f4, expected integers or bool/],
      [npy(even, '<c8', '375,'), /type <c8/],
      [npy(even, '<u2', '30, 50'), /shape \(30, 50\), expected one dimension/],
      [npy(even, '<u2', ''), /shape \(\)/],
      [npy(even, '<u2', '1500,', 'True'), /Fortran order/],
      [npy(even, '<u2', '1501,'), /cut off: 2 bytes are missing/],
      [npy(even, '<u2', '1499,'), /more bytes than its header says/],
      [Buffer.concat([npy(even, '<u2', '1500,'), npy(even, '<u2', '1500,')]), /more bytes/],
      [npy(even, '<u2', '1500,').subarray(0, 40), /ends within its header/],
    ] as const) {
      assert.match((await refusal(file, 'npy')).message, says);
    }
  });

  it('reads WAV of 8, 16, 24 and 32 bits, with other chunks, of odd length too', async () => {
    const list = chunk('LIST', Buffer.from('odd'));
    for (const [bits, format] of [
      [8, 'u8'],
      [16, 's16le'],
      [24, 's24le'],
      [32, 's32le'],
    ] as const) {
      const file = wav(even, { bits, before: [list], after: [list] });
      const { hex } = await readForm(even, format);
      assert.deepEqual((await readForm(file)).hex, hex);
      assert.deepEqual((await readForm(inChunks(file, 5), 'wav')).hex, hex);
    }
    assert.equal((await readForm(wav(BYTES, { bits: 8, after: [list] }))).hex, HEX);
  });

  it('reads one channel, or all', async () => {
    const file = wav(even, { channels: 2 });
    const left = Buffer.from(even.filter((_, i) => i % 4 < 2))
      .swap16()
      .toString('hex');
    assert.match((await refusal(file)).message, /has 2 channels: choose one with wav:1, or all/);
    assert.deepEqual(await readForm(file, 'wav:1'), { hex: left, bits: 12_000, format: 'wav:1' });
    assert.equal((await readForm(file, 'wav:all')).hex, turned);
    assert.match((await refusal(file, 'wav:3')).message, /has 2 channels, not 3/);
    assert.equal(
      (await readForm(file, 'wav:1:0-7')).hex,
      Buffer.from(even.filter((_, i) => i % 4 === 0)).toString('hex'),
    );
  });

  it('refuses other sound by name, and what is cut off or has no length', async () => {
    const streamed = wav(even);
    streamed.writeUInt32LE(0xffffffff, 4);
    streamed.writeUInt32LE(0xffffffff, 40);
    for (const [file, says] of [
      [wav(even, { tag: 3, bits: 32 }), /no PCM of integers \(its format is 0x3\)/],
      [wav(even, { bits: 12 }), /samples of 12 bits/],
      [wav(even).subarray(0, 2000), /cut off: 1044 bytes are missing/],
      [Buffer.concat([wav(even), wav(even)]), /more bytes than its header says/],
      [streamed, /does not say how long it is/],
      [wav(even).subarray(0, 30), /ends within its header/],
      [Buffer.concat([Buffer.from('RIFX'), wav(even).subarray(4)]), /does not begin with RIFF/],
    ] as const) {
      assert.match((await refusal(file, 'wav')).message, says);
    }
  });
});

describe('gzip', () => {
  it('is read to its end, where its checksum stands', async () => {
    const packed = gzipSync(BYTES);
    assert.deepEqual(await readForm(packed), { hex: HEX, bits: 8 * 3001, format: 'gzip:binary' });
    const wrong = Buffer.from(packed);
    wrong[wrong.length - 6] = (wrong[wrong.length - 6] as number) ^ 1;
    const garbage = Buffer.concat([packed, Buffer.from('more bytes')]);
    for (const file of [wrong, garbage, packed.subarray(0, -3), packed.subarray(0, 2000)]) {
      const { code, message } = await refusal(file);
      assert.equal(code, 'damaged');
      assert.match(message, /the gzip (?:is damaged or incomplete|has several members)/);
    }
  });

  it('holds other forms, and what it holds is recognised', async () => {
    const digits = gzipSync('0110'.repeat(100));
    assert.match(
      (await refusal(digits)).message,
      /read as gzip, and what it holds .*give the format "gzip:ascii"/,
    );
    assert.equal((await readForm(digits, 'gzip:ascii')).hex, '66'.repeat(50));
    assert.equal((await readForm(gzipSync('1\n2\n3\n'), 'gzip:csv:1:4')).hex, '1230');
    // Else a gzip that holds itself would never end.
    const twice = await refusal(gzipSync(gzipSync(BYTES)));
    assert.match(twice.message, /read as gzip, and what it holds looks like gzip: write what it/);
  });
});

describe('the table of the forms', () => {
  it('reads each example, and refuses other names and options', () => {
    for (const { example } of FORMS) parseFormat(example);
    for (const name of [
      '',
      'bin',
      'hex:2',
      'u12le',
      'u16',
      'u8le',
      'u16in16le',
      'u16le:16-3',
      'u12in16le:0-3',
      'packed33',
      'packed0',
      'bit8:1,1',
      'bit8:0,256',
      'bit8:0,1.5',
      'bitf16le',
      'csv:0',
      'csv:1:33',
      'csv:1:8:2',
      'numbers:hex',
      'npy:a',
      'wav:0',
      'wav:1:2',
      'ihex:hex',
      'gzip:xz',
      'gzip:gzip:binary',
    ]) {
      assert.throws(() => parseFormat(name), /"format" expected such as "binary:lsb"/, name);
    }
  });
});

async function* inChunks(input: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < input.length; at += size) yield input.subarray(at, at + size);
}
