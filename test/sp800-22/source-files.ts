/**
 * Test files, and the parts of the verdict and the rows of the second level that fail in each. `scripts/source-files.ts`
 * writes the files, and the table of docs/evidence/source-files.md.
 */
import { gzipSync } from 'node:zlib';
import { unpackBits } from '#sp800-22';
import { PARTS } from '../../packages/lab/src/report/verdict-text.ts';
import type { PartName } from '../../packages/sp800-22/src/source-rule/index.ts';
import { defectiveSource } from './defective-sources.ts';

export interface SourceFile {
  readonly name: string;
  /** Name in `SOURCES`. */
  readonly source: string;
  /** Bits of a sequence. */
  readonly bits: number;
  readonly sequences: number;
  readonly format: 'binary' | 'ascii' | 'hex' | 'gzip';
  /** All parts of the verdict that fail, or some of them if the last one is `MORE`. Empty if the file passes. */
  readonly parts: readonly (PartName | typeof MORE)[];
  /** All rows of the second level that fail, or some of them if the last one is `MORE`. */
  readonly rows: readonly string[];
  /** The same for the supplements, which only run with `--supplements`. */
  readonly supplements: readonly string[];
  /** Why these parts and rows fail, or why none does. */
  readonly because: string;
}

/** Stands for more rows. */
export const MORE = 'more';

/** All parts but `repeats`. */
const FIVE_PARTS = ['smallest', 'second_level', 'counts', 'scan', 'walks'] as const;

const SEED = 1;

const LONG = { bits: 2 ** 20, sequences: 55, format: 'binary' } as const;

/** Describes a file of 55 sequences of 2^20 bits. */
function long(
  source: string,
  parts: SourceFile['parts'],
  rows: readonly string[],
  supplements: readonly string[],
  because: string,
): SourceFile {
  return { name: source, source, ...LONG, parts, rows, supplements, because };
}

function sound(bits: number, sequences: number): SourceFile {
  const because = 'At most 0.9 % of sound files fail, at every length.';
  return { ...long('sound', [], [], [], because), name: `sound-${bits}`, bits, sequences };
}

/** Describes sound bits as text or compressed text. `parts` and `rows` fail if it is read as binary. */
function text(
  format: SourceFile['format'],
  parts: SourceFile['parts'],
  rows: readonly string[],
  because: string,
): SourceFile {
  return { ...long('sound', parts, rows, [], because), name: format, bits: 10_000, format };
}

export const FILES: readonly SourceFile[] = [
  sound(1000, 1000),
  sound(10_000, 100),
  sound(100_000, 55),
  sound(2 ** 20, 55),
  long(
    'drift',
    ['smallest', 'second_level', 'counts'],
    ['block_frequency M = 128', 'block_frequency M = 16384'],
    ['spectral_peak'],
    'A block of 16,384 bits is an eighth of the swing, so this row fails in nearly every sequence alone. Blocks of 128 bits show it only over many sequences, and in 1 of 12 files with other seeds.',
  ),
  long(
    'period-8000',
    [],
    [],
    ['spectral_peak'],
    'A block of 16,384 bits averages two swings, and blocks of 128 bits are too short to show one. The spectrum shows the frequency.',
  ),
  long(
    'lag-copy',
    [],
    [],
    ['autocorrelation'],
    'All patterns within 16 bits are as frequent as they should be. Only `autocorrelation` compares bits 1,000 places apart; it finds them in each sequence alone.',
  ),
  long(
    'bias-0.51',
    FIVE_PARTS,
    ['frequency', MORE],
    ['autocorrelation', MORE],
    'Each sequence fails alone.',
  ),
  long(
    'bias-0.501',
    ['smallest', 'second_level', 'counts', 'walks'],
    ['frequency', 'cumulative_sums forward', 'cumulative_sums reverse'],
    [],
    'A sequence has two standard deviations too many ones, mostly too few to fail alone. They add up.',
  ),
  long(
    'stuck-bit',
    ['second_level', 'counts', 'scan', 'walks'],
    ['frequency', 'cumulative_sums forward', 'cumulative_sums reverse'],
    ['autocorrelation', 'spectral_peak', 'byte_distribution'],
    'On average a bit is one with probability 0.499. Pieces, drift and the supplements also see where the bit stands.',
  ),
  long(
    'periodic',
    [...FIVE_PARTS, 'repeats'],
    ['frequency', 'rank', 'serial del1', 'linear_complexity', MORE],
    ['autocorrelation', 'spectral_peak', 'byte_distribution'],
    'Each sequence has the same bits 16 times.',
  ),
  long(
    'lcg-low',
    FIVE_PARTS,
    ['frequency', 'rank', 'serial del1', 'linear_complexity', MORE],
    ['autocorrelation', 'spectral_peak', 'byte_distribution'],
    'The lowest byte has a period of 256.',
  ),
  long(
    'lcg',
    ['second_level'],
    ['dft', 'serial del1'],
    ['autocorrelation'],
    'Values 2^k steps apart are related. In one sequence `autocorrelation` shows it; `dft` and `serial` need tens.',
  ),
  {
    ...long(
      'randu',
      ['second_level'],
      ['serial del1'],
      [],
      'Triples of values lie in 15 planes, so patterns of 16 bits are too evenly spread. 200 sequences still pass.',
    ),
    sequences: 300,
  },
  long(
    'mt19937',
    [],
    [],
    [],
    '**Nothing finds it.** Its bits follow a linear recurrence of 19,937 terms. `linear_complexity` looks at blocks of 500 bits, of 5,000 at most (§2.10.7), and `rank` at matrices of 32 × 32. Its output is predictable after 624 words.',
  ),
  text(
    'ascii',
    FIVE_PARTS,
    ['frequency', MORE],
    'Digits 0 and 1, which pass with `--format ascii`.',
  ),
  text(
    'hex',
    FIVE_PARTS,
    ['frequency', MORE],
    'Hexadecimal digits, which pass with `--format hex`.',
  ),
  text(
    'gzip',
    [MORE],
    [MORE],
    'The file `ascii`, compressed, which passes with `--format gzip:ascii`. What fails depends on the compressor.',
  ),
];

/** Returns the contents of a file. */
export function contentsOf({ source, bits, sequences, format }: SourceFile): Uint8Array {
  const length = Math.ceil((bits * sequences) / 8);
  const bytes = defectiveSource(source).generate(SEED, length);
  if (format === 'binary') return bytes;
  if (format === 'hex') return Buffer.from(Buffer.from(bytes).toString('hex'));
  const digits = Buffer.from(unpackBits(bytes, 8 * length).map((bit) => 48 + bit));
  return format === 'ascii' ? digits : gzipSync(digits);
}

const ENDINGS = { binary: 'bin', ascii: 'txt', hex: 'hex', gzip: 'txt.gz' } as const;

export function fileName({ name, format }: SourceFile): string {
  return `${name}.${ENDINGS[format]}`;
}

/** Returns the table of docs/evidence/source-files.md. */
export function tableLines(): readonly string[] {
  const lines = FILES.map((file) => {
    const { source, bits, sequences, parts, rows, supplements, because } = file;
    const cells = [
      `\`${fileName(file)}\``,
      defectiveSource(source).defect,
      `${sequences.toLocaleString('en')} × ${bits.toLocaleString('en')}`,
      parts.length === 0 ? 'passed' : `FAILED: ${listText(parts.map(partTitle))}`,
      listText(rows),
      listText(supplements),
      because,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| File | Defect | Sequences × bits | Verdict and failed parts | Failed rows | Failed supplements | Why |',
    '|---|---|---|---|---|---|---|',
    ...lines,
  ];
}

function partTitle(part: PartName | typeof MORE): string {
  return part === MORE ? MORE : PARTS[part].title;
}

function listText(all: readonly string[]): string {
  const names = all.map((one) => (one === MORE ? (all.length > 1 ? 'and more' : 'some') : one));
  return names.join(', ').replace(', and more', ' and more') || 'none';
}
