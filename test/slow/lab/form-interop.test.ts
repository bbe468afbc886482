/** Forms as the programs of others write them now, with many of their options: each is read as the bits of its source. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { readForm, refusal } from '../../../packages/lab/test/support/read-form.ts';
import { aesCtr } from '../../support/lab/aes-stream.ts';
import { sharedPython } from '../../support/programs/python.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

const python = await sharedPython('forms');

const folder = makeDataDir();
after(() => removeDataDir(folder));

/** Sizes around the ends of lines, words and segments. */
const SIZES = [1, 2, 3, 15, 16, 17, 255, 4099, 70_001];
const SOURCES = SIZES.map((size, i) => aesCtr(Buffer.alloc(32, 80 + i), size));

for (const [i, source] of SOURCES.entries()) writeFileSync(join(folder, `${SIZES[i]}.bin`), source);

/** The reason to skip a test of a program that is not here. */
function lacking(program: string): string | false {
  return spawnSync(program, ['--version']).error ? `there is no ${program} here` : false;
}

/** Writes each source by a command, in which FILE and OUT stand for files, and compares what is read. */
async function compare(
  [program = '', ...args]: readonly string[],
  format?: string,
  expected: (source: Buffer) => Buffer = (source) => source,
): Promise<void> {
  for (const [i, source] of SOURCES.entries()) {
    const file = join(folder, `${SIZES[i]}.bin`);
    const out = join(folder, 'out');
    const given = args.map((arg) => ({ FILE: file, OUT: out })[arg] ?? arg);
    const written = execFileSync(program, given, { maxBuffer: 2 ** 26 });
    const text = args.includes('OUT') ? readFileSync(out) : written;
    if (source.length < 32 && (await isAmbiguous(text, format))) continue;
    const { hex } = await readForm(text, format);
    assert.equal(hex, expected(source).toString('hex'), `${program} ${given.join(' ')}`);
  }
}

/** The offset after a sole line of words of 8 bytes may fit two bases, if the bytes between are zero or padding. */
async function isAmbiguous(text: Buffer, format?: string): Promise<boolean> {
  return readForm(text, format).then(
    () => false,
    ({ message }: Error) => /may be octal, decimal or hexadecimal/.test(message),
  );
}

describe('od', { skip: lacking('od') }, () => {
  for (const offset of ['o', 'd', 'x']) {
    for (const type of ['x1', 'x2', 'x4', 'x8', 'o1', 'o2', 'x1z', 'x2z']) {
      for (const width of ['-w16', '-w8', '-w32']) {
        it(`-A ${offset} -t ${type} ${width}`, () =>
          compare(['od', '-v', '-A', offset, '-t', type, width, 'FILE'], 'listing'));
      }
    }
  }

  it('is refused in decimal, as characters, and with lines left out', async () => {
    for (const [type, says] of [
      ['u1', /line \d+: /],
      ['d2', /line \d+: /],
      ['c', /line 1: expected bytes/],
      ['a', /line 1: expected bytes/],
      ['f4', /line 1: expected bytes/],
    ] as const) {
      const text = execFileSync('od', ['-v', '-t', type, join(folder, '4099.bin')]);
      assert.match((await refusal(text, 'listing')).message, says, type);
    }
    writeFileSync(join(folder, 'zeros'), Buffer.alloc(100));
    const text = execFileSync('od', ['-t', 'x1', join(folder, 'zeros')]);
    assert.match((await refusal(text, 'listing')).message, /line 2: "\*" stands for lines/);
  });
});

describe('hexdump', { skip: lacking('hexdump') }, () => {
  for (const option of ['-C', '-x', '-b', '-o']) {
    it(option, () => compare(['hexdump', '-v', option, 'FILE'], 'listing'));
  }
  it('without options', () => compare(['hexdump', '-v', 'FILE'], 'listing'));

  it('is refused in decimal and as characters', async () => {
    for (const option of ['-d', '-c']) {
      const text = execFileSync('hexdump', ['-v', option, join(folder, '4099.bin')]);
      assert.match((await refusal(text, 'listing')).message, /line 1: expected bytes/, option);
    }
  });
});

describe('xxd', { skip: lacking('xxd') }, () => {
  for (const options of [
    [],
    ['-u'],
    ['-b'],
    ['-d'],
    ['-g', '1'],
    ['-g', '4'],
    ['-g', '8', '-c', '32'],
    ['-c', '7'],
    ['-b', '-c', '8'],
    ['-o', '4096'],
  ]) {
    it(options.join(' ') || 'without options', () =>
      compare(['xxd', ...options, 'FILE'], 'listing'),
    );
  }
  it('-p', () => compare(['xxd', '-p', 'FILE'], 'hex'));

  it('is refused with words that are turned', async () => {
    const text = execFileSync('xxd', ['-e', join(folder, '4099.bin')]);
    assert.match((await refusal(text, 'listing')).message, /line 1: the characters beside/);
  });
});

describe('objcopy', { skip: lacking('objcopy') }, () => {
  const objcopy = (...options: string[]): string[] => [
    'objcopy',
    ...['-I', 'binary', ...options, 'FILE', 'OUT'],
  ];
  for (const options of [
    ['-O', 'ihex'],
    ['-O', 'ihex', '--change-addresses', '0x800fff0'],
    ['-O', 'ihex', '--change-addresses', '0xfff8'],
    ['-O', 'srec'],
    ['-O', 'srec', '--srec-forceS3'],
    ['-O', 'srec', '--srec-len=200'],
    ['-O', 'srec', '--change-addresses', '0xfffff0'],
  ]) {
    it(options.join(' '), () =>
      compare(objcopy(...options), options[1] === 'ihex' ? 'ihex' : 'srec'),
    );
  }
});

describe('gzip and base64', { skip: lacking('gzip') || lacking('base64') }, () => {
  it('at each level', async () => {
    for (const level of ['-1', '-9']) await compare(['gzip', '-c', level, 'FILE'], 'gzip:binary');
    await compare(['base64', 'FILE'], 'base64:binary');
    await compare(['base64', '-w0', 'FILE'], 'base64:binary');
  });
});

describe('packers whose files are not read', () => {
  for (const [program, args, name] of [
    ['xz', ['-9kc'], 'xz'],
    ['bzip2', ['-kc'], 'bzip2'],
    ['zstd', ['-qkc'], 'zstd'],
    ['lz4', ['-qkc'], 'lz4'],
  ] as const) {
    it(`${program} is named, with the command that gives the bits`, {
      skip: lacking(program),
    }, async () => {
      const packed = execFileSync(program, [...args, join(folder, '4099.bin')]);
      const { code, figures, message } = await refusal(packed);
      assert.deepEqual([code, figures.form?.name], ['other-form', name]);
      assert.match(
        message,
        new RegExp(`looks like ${name}: give what "${program} -dc FILE" writes`),
      );
    });
  }

  it('zip is named', { skip: lacking('zip') }, async () => {
    const archive = join(folder, 'a.zip');
    execFileSync('zip', ['-q', archive, join(folder, '4099.bin')]);
    assert.match(
      (await refusal(readFileSync(archive))).message,
      /a zip archive: give what "unzip -p/,
    );
  });
});

describe('NumPy and wave', { skip: python.skip }, () => {
  const out = join(folder, 'python');
  mkdirSync(out);
  const SCRIPT = `
import itertools, sys, wave
import numpy
data = open(sys.argv[1], 'rb').read()
for order, kind, size in itertools.product('<>', 'iu', (1, 2, 4, 8)):
    name = f'{"le" if order == "<" else "be"}-{kind}{size}.npy'
    numpy.save(f'{sys.argv[2]}/{name}', numpy.frombuffer(data, f'{order}{kind}{size}'))
array = numpy.frombuffer(data, numpy.uint8)
numpy.save(f'{sys.argv[2]}/bool.npy', numpy.unpackbits(array).astype(bool))
numpy.save(f'{sys.argv[2]}/float.npy', array.astype(float))
numpy.save(f'{sys.argv[2]}/matrix.npy', array.reshape(2, -1))
numpy.save(f'{sys.argv[2]}/fortran.npy', numpy.asfortranarray(array.reshape(2, -1)))
numpy.save(f'{sys.argv[2]}/record.npy', numpy.zeros(9, dtype=[('a', 'u1'), ('b', 'u1')]))
with open(f'{sys.argv[2]}/version2.npy', 'wb') as file:
    numpy.lib.format.write_array(file, array, version=(2, 0))
for width, channels in itertools.product((1, 2, 3, 4), (1, 2, 4)):
    with wave.open(f'{sys.argv[2]}/{channels}x{8 * width}.wav', 'wb') as sound:
        sound.setparams((channels, width, 48000, 0, 'NONE', ''))
        sound.writeframes(data)
`;
  const source = aesCtr(Buffer.alloc(32, 99), 4800);
  writeFileSync(join(out, 'source'), source);
  if (python.skip === false)
    execFileSync(python.python, ['-I', '-c', SCRIPT, join(out, 'source'), out]);
  const file = (name: string): Buffer => readFileSync(join(out, name));

  /** The bits of words of a number of bytes, which the integer formats read. */
  const bitsOf = async (bytes: Uint8Array, format: string): Promise<string> =>
    (await readForm(bytes, format)).hex;

  it('arrays of every kind of integer, and of bool', async () => {
    for (const order of ['le', 'be']) {
      for (const [size, kind] of [1, 2, 4, 8].flatMap((n) => [
        [n, 'i'] as const,
        [n, 'u'] as const,
      ])) {
        const format = size === 1 ? 'u8' : `u${8 * size}${order}`;
        const { hex } = await readForm(file(`${order}-${kind}${size}.npy`));
        assert.equal(hex, await bitsOf(source, format), `${order} ${kind}${size}`);
      }
    }
    assert.equal((await readForm(file('bool.npy'))).hex, source.toString('hex'));
    assert.equal((await readForm(file('version2.npy'))).hex, source.toString('hex'));
  });

  it('other arrays are refused by name', async () => {
    for (const [name, says] of [
      ['float', /type <f8/],
      ['matrix', /shape \(2, 2400\)/],
      ['fortran', /shape \(2, 2400\)/],
      ['record', /another header than NumPy writes, or fields/],
    ] as const) {
      assert.match((await refusal(file(`${name}.npy`))).message, says);
    }
  });

  it('sound of 8, 16, 24 and 32 bits, by channel and interleaved', async () => {
    for (const bits of [8, 16, 24, 32]) {
      const format = bits === 8 ? 'u8' : `s${bits}le`;
      const all = await bitsOf(source, format);
      for (const channels of [1, 2, 4]) {
        const sound = file(`${channels}x${bits}.wav`);
        assert.equal((await readForm(sound, 'wav:all')).hex, all);
        const size = (channels * bits) / 8;
        const last = source.filter((_, i) => i % size >= size - bits / 8);
        assert.equal((await readForm(sound, `wav:${channels}`)).hex, await bitsOf(last, format));
      }
    }
  });
});
