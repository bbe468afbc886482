/** The parts of the page of `phm-lab assess --html`: data to markup and drawings. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { CODE_POINTS } from '../../../../test/support/texts/code-points.ts';
import {
  ALPHA,
  CATALOGUE,
  dft,
  judgeSecondLevel,
  type RowCounts,
  type SecondLevelVerdict,
  TEST_NAMES,
  testLevelP,
  unpackBits,
} from '../../../sp800-22/src/index-node.ts';
import { FailingSequences } from '../../src/report/failing-sequences.ts';
import {
  linearScale,
  linePath,
  marks,
  niceTicks,
  shortNumber,
} from '../../src/report/html/chart.ts';
import { distributionSection, PValueClasses } from '../../src/report/html/distribution.ts';
import { failingSection } from '../../src/report/html/failing-section.ts';
import { histogram } from '../../src/report/html/histogram.ts';
import { Markup, markup } from '../../src/report/html/markup.ts';
import { pValueFigure, testLimit } from '../../src/report/html/p-value-plot.ts';
import { runningHead } from '../../src/report/html/page-frame.ts';
import { proportionFigure } from '../../src/report/html/proportion-plot.ts';
import { rowsSection } from '../../src/report/html/rows-table.ts';
import {
  measureSpectrum,
  SPECTRUM_MAX_BITS,
  spectrumFigure,
} from '../../src/report/html/spectrum.ts';
import { layOutStrips, rowY } from '../../src/report/html/strips.ts';
import { walkEnvelope, walkFigure } from '../../src/report/html/walk.ts';
import type { TraceJson } from '../../src/report/trace.ts';
import { alignedCopy, WorstSequence } from '../../src/report/worst-sequence.ts';

/** Returns an AES-256-CTR stream: sound, and the same in every run. */
const stream = (length: number): Buffer => aesCtr(Buffer.alloc(32, 9), length);

/** Returns the paths of one class. */
const paths = ({ text }: Markup, className: string): string[] =>
  [...text.matchAll(new RegExp(`<path class="${className}"[^>]* d="([^"]*)"`, 'g'))].map(
    ([, d]) => d,
  );

const pointsOf = (path: string): number => path.split('M').length - 1;

describe('markup', () => {
  it('escapes text everywhere and passes markup through once', () => {
    fc.assert(
      fc.property(fc.string({ unit: CODE_POINTS }), (text) => {
        const { text: shown } = markup`<b title="${text}">${text}</b>`;
        const [, attribute, content] = /^<b title="([^"]*)">([^<]*)<\/b>$/s.exec(shown) ?? [];
        assert.equal(attribute, content);
        assert.doesNotMatch(content, /[<>"'\p{Cc}]|&(?!(amp|lt|gt|quot|#39);)/u);
      }),
    );
    const inner = markup`<i>${'&'}</i>`;
    assert.equal(markup`${inner}${[inner, 7]}`.text, '<i>&amp;</i><i>&amp;</i>7');
    assert.ok(inner instanceof Markup);
  });
});

describe('scales and marks', () => {
  it('map a domain to a range in either direction', () => {
    const y = linearScale([-2, 2], [250, 30]);
    assert.deepEqual([-2, 0, 2].map(y), [250, 140, 30]);
  });

  it('have a limited number of ticks at round numbers within the domain', () => {
    assert.deepEqual(niceTicks(0, 1_048_576, 5), [0, 500_000, 1_000_000]);
    assert.deepEqual(niceTicks(0.9448, 1, 6), [0.95, 0.96, 0.97, 0.98, 0.99, 1]);
    assert.deepEqual(niceTicks(-63, 63, 7), [-60, -40, -20, 0, 20, 40, 60]);
    fc.assert(
      fc.property(fc.double({ min: 1e-3, max: 1e8, noNaN: true }), (high) => {
        const ticks = niceTicks(-high, high, 6);
        assert.ok(ticks.length >= 2 && ticks.length <= 6, String(ticks));
        assert.ok(ticks.every((tick) => Math.abs(tick) <= high && !Object.is(tick, -0)));
      }),
    );
  });

  it('write coordinates to one decimal, with one move per mark', () => {
    assert.equal(
      linePath([
        [1.04, 2],
        [3, 4.26],
      ]),
      'M1 2L3 4.3',
    );
    assert.equal(marks('dot', [[1, 2.55]]).text, '<path class="dot" d="M1 2.6h0"/>');
    assert.deepEqual([shortNumber(-200_000), shortNumber(2e7)], ['−200,000', '20 M']);
  });
});

describe('walkEnvelope', () => {
  it('contains every step, in columns that meet', () => {
    // 1 1 0 1 0 0 0 0
    assert.deepEqual(walkEnvelope(Uint8Array.of(0b1101_0000), 8, 4), {
      bits: 8,
      low: [0, 1, 0, -2],
      high: [2, 2, 2, 0],
      last: -2,
      furthest: 2,
    });
  });

  it('agrees with a bit-by-bit walk at lengths that are not a multiple of the columns', () => {
    const bytes = stream(300);
    for (const bits of [100, 401, 2399]) {
      const walk = [0];
      for (const bit of unpackBits(bytes, bits)) walk.push((walk.at(-1) as number) + 2 * bit - 1);
      const { low, high, last, furthest } = walkEnvelope(bytes, bits);
      assert.equal(last, walk.at(-1));
      assert.equal(furthest, Math.max(...walk.map(Math.abs)));
      assert.deepEqual(
        [Math.min(...low), Math.max(...high)],
        [Math.min(...walk), Math.max(...walk)],
      );
    }
  });

  it('is drawn within its axes, whatever the walk does', () => {
    const [d] = paths(walkFigure(walkEnvelope(new Uint8Array(125), 1000), 'sequence 1'), 'walk');
    const ys = [...d.matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y));
    assert.ok(Math.min(...ys) >= 34 && Math.max(...ys) <= 250);
    assert.ok(Math.max(...ys) > 235);
  });
});

describe('measureSpectrum', () => {
  it('returns N_1, N_0 and T of the test for even, odd and other lengths', () => {
    const bytes = stream(4096);
    for (const bits of [1000, 1001, 4096, 30_000, 32_768]) {
      const { N_1, N_0, threshold } = measureSpectrum(bytes, bits);
      const { statistics } = dft(unpackBits(bytes, bits));
      assert.deepEqual([N_1, N_0], [statistics.N_1, statistics.N_0], `${bits} bits`);
      assert.ok(Math.abs(threshold * Math.sqrt(bits) - Number(statistics.T)) < 1e-9);
    }
  });

  it('names the peaks of a periodic sequence, largest first', () => {
    // 10000000 repeated has its mean, and a peak at each multiple of n/8.
    const { peaks, peakCount } = measureSpectrum(new Uint8Array(512).fill(0x80), 4096);
    assert.equal(peakCount, 4);
    assert.equal(peaks[0].k, 0);
    assert.ok(Math.abs(peaks[0].size - 48) < 1e-9);
    assert.equal(peaks.length, 3);
    assert.ok(peaks.every(({ k }) => k % 512 === 0));
  });

  it('uses the first 2^20 bits of a longer sequence and says so', () => {
    const bits = SPECTRUM_MAX_BITS + 8;
    const bytes = stream(bits / 8);
    const spectrum = measureSpectrum(bytes, bits);
    assert.equal(spectrum.bits, SPECTRUM_MAX_BITS);
    assert.deepEqual(spectrum, measureSpectrum(bytes, SPECTRUM_MAX_BITS));
    assert.equal(spectrum.columns.length, 192);
    for (const { least, quarter, threeQuarters, most95, most } of spectrum.columns) {
      const ordered = [least, quarter, threeQuarters, most95, most];
      assert.deepEqual(
        ordered,
        ordered.toSorted((a, b) => a - b),
      );
    }
    const { text } = spectrumFigure(spectrum, bits, 'sequence 1');
    assert.match(text, /\|S_k\| of the first 1,048,576 bits of sequence 1/);
    assert.doesNotMatch(
      spectrumFigure(spectrum, SPECTRUM_MAX_BITS, 'sequence 1').text,
      /the first 1,048,576/,
    );
  });

  it('draws each value of a short sequence as a point, with another mark from T on', () => {
    const spectrum = measureSpectrum(stream(125), 1000);
    const figure = spectrumFigure(spectrum, 1000, 'sequence 1');
    const drawn = ['dot', 'ring'].map((kind) => Math.max(...paths(figure, kind).map(pointsOf)));
    assert.deepEqual(drawn, [spectrum.N_1, 500 - spectrum.N_1]);
  });
});

describe('pValueFigure', () => {
  it('distinguishes p-values at ALPHA, below it, and below the limit of their test', () => {
    const limit = testLimit(2);
    const sequences = [
      [0.5, ALPHA],
      [0.0099, limit * 1.001],
      [limit * 0.999, 0],
    ];
    const figure = pValueFigure([{ name: 'serial', sequences }], '3 sequences');
    // The legend has a separate path for each.
    const counts = ['dot', 'ring', 'cross'].map((kind) => pointsOf(paths(figure, kind)[0]));
    assert.deepEqual(counts, [2, 2, 2]);
    assert.match(
      figure.text,
      /aria-label="6 p-values of 1 test; below 0\.01: 4; below the limit of the test: 2"/,
    );
  });

  it('places p-values from left to right, with 0 left of the scale', () => {
    const sequences = [[0], [1e-300], [1e-12], [1e-6], [0.02], [1]];
    const figure = pValueFigure([{ name: 'runs', sequences }], '6 sequences');
    const [crosses, dots] = ['cross', 'dot'].map((kind) => paths(figure, kind)[0]);
    const xs = [...`${crosses}${dots}`.matchAll(/M([\d.]+) /g)].map(([, x]) => Number(x));
    assert.equal(xs.length, 6);
    assert.equal(xs[0], xs[1]);
    for (let i = 2; i < 6; i++) assert.ok(xs[i] > xs[i - 1], String(xs));
    assert.ok(xs[0] > 196 && xs[5] < 988);
  });

  it('draws the limit at which the corrected smallest p-value equals ALPHA', () => {
    for (const m of [1, 2, 148]) {
      const pValues = [testLimit(m), ...new Array(m - 1).fill(0.5)];
      assert.ok(Math.abs(testLevelP(pValues) - ALPHA) < 1e-15);
    }
  });

  it('is empty if no test applied', () => {
    assert.equal(pValueFigure([], '3 sequences').text, '');
  });

  it('gives each test a strip and each row a place in it', () => {
    const { strips, bottom } = layOutStrips([
      ['frequency', 1],
      ['non_overlapping_template', 148],
    ]);
    assert.equal(strips[1].rows, 148);
    assert.ok(strips[1].top > strips[0].top + strips[0].height);
    assert.ok(rowY(strips[1], 0) > strips[1].top && rowY(strips[1], 147) < bottom);
  });
});

describe('the second level', () => {
  const row = (
    test: RowCounts['test'],
    label: string,
    passes: number,
    first: number,
  ): RowCounts => ({
    test,
    index: label === 'reverse' ? 2 : 1,
    label,
    sequences: 100,
    passes,
    histogram: [first, ...new Array(9).fill((100 - first) / 9)],
  });
  const ROWS = [
    row('cumulative_sums', 'forward', 99, 10),
    row('cumulative_sums', 'reverse', 96, 10),
    row('runs', '', 60, 55),
    { ...row('rank', '', 20, 10), sequences: 20 },
  ];
  const verdict = judgeSecondLevel(100, ROWS, 2 ** 20) as SecondLevelVerdict;

  it('marks rows inside, outside and failed with different shapes', () => {
    const figure = proportionFigure(verdict);
    const counts = ['dot', 'ring', 'cross'].map((kind) => pointsOf(paths(figure, kind)[0]));
    assert.deepEqual(counts, [1, 1, 1]);
    assert.match(figure.text, /aria-label="Proportions of 3 rows; outside their interval: 2"/);
    assert.match(figure.text, />reverse<title>cumulative_sums reverse<\/title>/);
    // The bands of two tests, and the sample in the legend.
    assert.equal(paths(figure, 'area').length, 3);
  });

  it('has bars with the height of their counts and a line at the expected count', () => {
    const { text } = histogram(verdict.rows[2]);
    assert.match(text, /aria-label="p-values in ten classes: 55, 5, 5,/);
    assert.match(text, /<path class="bars" d="M1 30v-30h8V30zM11 30v-2\.7h8V30z/);
    assert.match(text, /<path class="expected" d="M0 24\.5h100"\/>/);
    assert.match(histogram(verdict.rows[0]).text, /class="expected" d="M0 15h100"/);
  });

  it('shows classes, proportion, both checks, P-value_T and verdict of each row', () => {
    const { text } = rowsSection(verdict);
    const rows = text.split('<tr').filter((row) => row.includes('scope="row"'));
    assert.equal(rows.length, 4);
    const cells = rows.map((row) =>
      row
        .split(/<\/t[dh]>/)
        .map((cell) => cell.replace(/<svg.*<\/svg>|<[^>]*>|^[^<]*>/g, '').trim()),
    );
    const [inside, outside, failed, unjudged] = cells;
    assert.deepEqual(inside.slice(0, 4), [
      'cumulative_sums forward',
      '',
      verdict.rows[0].histogram.join(' '),
      '99 of 100',
    ]);
    assert.equal(inside[6], '1.000000');
    assert.equal(inside[7], '✓ passed');
    assert.equal(outside[3], '96 of 100 *');
    assert.match(rows[2], /^ class="failed">/);
    assert.match(failed[6], /^\d\.\d{3}e-\d+ \*$/);
    assert.equal(failed[7], '✗ FAILED');
    assert.deepEqual(unjudged.slice(3, 8), ['20 of 20', '–', '–', '–', 'not judged']);
    // The check that failed the row, and no other.
    assert.deepEqual(
      rows.map((row) => row.split('<b class="failed">').length - 1),
      [0, 0, 3, 0],
    );
  });
});

describe('alignedCopy', () => {
  it('begins with the first bit of a sequence that begins within a byte', () => {
    const bytes = stream(12);
    for (const offsetBits of [0, 3, 8, 13]) {
      const copy = alignedCopy({ bytes, offsetBits, bits: 70 });
      assert.deepEqual(unpackBits(copy.bytes, 70), unpackBits(bytes, 70, offsetBits));
    }
  });
});

describe('WorstSequence', () => {
  it('keeps the sequence with the smallest corrected p-value, whatever the order of bits and reports', () => {
    const worst = new WorstSequence();
    for (const i of [0, 1, 2]) worst.keep(i, { bytes: Uint8Array.of(i), offsetBits: 0, bits: 8 });
    for (const [index, correctedP] of [0.5, 0.001, 0.3].entries()) {
      worst.judge({ index, failed: [], smallest: { name: 'runs', correctedP } });
    }
    worst.keep(3, { bytes: Uint8Array.of(3), offsetBits: 0, bits: 8 });
    const drawn = worst.end(({ bytes }, { index }) => ({ bytes, first: bytes[0], index }));
    assert.deepEqual([drawn?.first, drawn?.index, drawn?.bytes[0]], [1, 1, 0]);
  });
});

describe('FailingSequences', () => {
  it('lists the worst in the order of the run and counts all', () => {
    const failing = new FailingSequences(2);
    for (const [index, correctedP] of [1e-3, 1e-9, 0.5, 1e-5].entries()) {
      const result = { name: 'runs', correctedP } as const;
      failing.add({ index, failed: correctedP < 0.01 ? [result] : [], smallest: result });
    }
    assert.equal(failing.count, 3);
    assert.deepEqual(
      failing.listed.map(({ index }) => index),
      [1, 3],
    );
    const layout = { sequences: 4, bits: 1000, offsetBits: 8, tests: TEST_NAMES.length };
    const { text } = failingSection(failing, layout);
    assert.match(text, /By chance, about 1 of 4 sound sequences fail one\./);
    assert.doesNotMatch(failingSection(failing, { ...layout, tests: 1 }).text, /in eight/);
    assert.match(text, /3 of 4 sequences failed.* The 2 worst are listed; 1 more failed\./);
    assert.match(text, />2<\/th><td class="number">1,008<\/td><td class="number">2,007<\/td>/);
  });
});

describe('the distribution of the p-values', () => {
  it('has the counts in ten classes and the largest distance from the diagonal', () => {
    const classes = new PValueClasses();
    classes.add('runs', [0, 0.05, 0.15, 1]);
    const { text } = distributionSection(classes, new Map([['runs', 4]]));
    assert.match(text, /p-values in ten classes: 2, 1, 0, 0, 0, 0, 0, 0, 0, 1"/);
    // At 0.16 three of four p-values, and 0.75 until 0.99: D is 0.75 − 0.16.
    assert.match(text, /at most 0\.590 from the diagonal/);
    assert.match(text, /D 0\.590, inside ±0\.814/);
  });
});

describe('the head of the printed page', () => {
  it('escapes the laboratory in the styles', () => {
    const facts = { report: { id: '0-1', laboratory: '"}</style>\\ü' } } as unknown as TraceJson;
    const { text } = runningHead(facts);
    assert.ok(text.includes('"\\22 \\7d \\3c \\2f style\\3e \\5c \\fc "'), text);
    assert.match(text, /"Page " counter\(page\) " of " counter\(pages\)/);
  });
});

describe('the table of the tests', () => {
  it('describes each test as in the documentation', () => {
    const path = join(import.meta.dirname, '../../../../docs/statistical-tests.md');
    const document = readFileSync(path, 'utf8');
    for (const [name, { section, detects }] of Object.entries(CATALOGUE)) {
      assert.ok(document.includes(`| \`${name}\` | ${section} | ${detects} |`), name);
    }
  });
});
