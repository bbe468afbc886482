/**
 * `phm assess` on many sequences, as users see it: stdout, stderr, exit code. The command runs in this process;
 * `test/slow/assess-interrupted.test.ts` has pipes and signals.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { P_VALUE_LABELS, runSuite, type TestName, unpackBits } from '#sp800-22';
import type { AssessReport } from '#sp800-22/report';
import { aesCtr } from '../support/aes-stream.ts';
import { commandJson, runCommand, runCommandOn } from '../support/run-command.ts';
import { makeDataDir, removeDataDir } from '../support/server.ts';

let dataDir: string;
before(() => {
  dataDir = makeDataDir();
});
after(() => removeDataDir(dataDir));

/** Returns an AES-256-CTR stream, which passes the tests and is the same in every run. */
const stream = (length: number): Buffer => aesCtr(Buffer.alloc(32, 5), length);

function write(name: string, content: string | Uint8Array): string {
  const path = join(dataDir, name);
  writeFileSync(path, content);
  return path;
}

interface ManyReport {
  readonly bits: number;
  readonly constants: string;
  readonly sequences: readonly AssessReport[];
  // biome-ignore lint/suspicious/noExplicitAny: tests read summaries of every shape.
  readonly summary: any;
}

/** One thread: short sequences take less time than starting another one. */
const ASSESS = ['assess', '--threads', '1'];

const assessJson = (...args: string[]): Promise<ManyReport> =>
  commandJson<ManyReport>([...ASSESS, ...args]);

const assess = (...args: string[]) => runCommand([...ASSESS, ...args]);

/** Returns the p-values of each sequence, computed by the suite itself. */
function expectedPValues(bytes: Uint8Array, bits: number, count: number): unknown[] {
  return Array.from({ length: count }, (_, i) =>
    runSuite(unpackBits(bytes, bits, i * bits)).tests.map((outcome) =>
      outcome.applicable ? outcome.pValues : [],
    ),
  );
}

const pValues = (report: AssessReport) => report.tests.map(({ p_values }) => p_values);

describe('phm assess --bits', () => {
  it('cuts a file into sequences bit by bit and ignores the remainder', async () => {
    const bytes = stream(1000);
    const file = write('cut.bin', bytes);
    const report = await assessJson(file, '--bits', '1237', '--sequences', 'all');
    assert.deepEqual(Object.keys(report), ['bits', 'constants', 'sequences', 'summary']);
    assert.deepEqual([report.bits, report.constants], [1237, 'exact']);
    assert.deepEqual(report.sequences.map(pValues), expectedPValues(bytes, 1237, 6));
  });

  it('writes the same report for each sequence as a single run', async () => {
    const file = write('single.bin', stream(500));
    const { sequences } = await assessJson(file, '--bits', '2000', '--sequences', 'all');
    const single = await commandJson(['assess', write('first.bin', stream(250))]);
    assert.equal(sequences.length, 2);
    assert.deepEqual(sequences[0], single);
  });

  it('writes the single report for one sequence', async () => {
    const file = write('one.bin', stream(250));
    const whole = await commandJson(['assess', file]);
    assert.deepEqual(await commandJson(['assess', file, '--bits', '2000']), whole);
    assert.deepEqual(Object.keys(whole)[3], 'tests');
    const longer = write('longer.bin', stream(5000));
    const args = ['assess', longer, '--bits', '2000', '--sequences', '1'];
    assert.deepEqual(await commandJson(args), whole);
  });

  it('assesses as many sequences as --sequences says, in order, on any number of threads', async () => {
    const file = write('threads.bin', stream(20_000));
    const args = [file, '--bits', '3001', '--sequences', '20'];
    const [one, three] = await Promise.all(
      ['1', '3'].map((threads) => assessJson(...args, '--threads', threads)),
    );
    assert.equal(one.sequences.length, 20);
    assert.deepEqual(three, one);
    assert.deepEqual(one.sequences.map(pValues), expectedPValues(stream(20_000), 3001, 20));
  });

  it('reads the same sequences from binary, ASCII and hexadecimal, from file and standard input', async () => {
    const bytes = stream(600);
    const forms = {
      binary: bytes,
      ascii: unpackBits(bytes).join('').replace(/.{70}/g, '$&\n'),
      hex: bytes.toString('hex').replace(/.{33}/g, '$&\r\n ').toUpperCase(),
    };
    // 1501 is odd, so sequences start inside bytes and hexadecimal digits.
    const expected = await assessJson(
      write('form.bin', bytes),
      '--bits',
      '1501',
      '--sequences',
      'all',
    );
    assert.equal(expected.sequences.length, 3);
    for (const [format, content] of Object.entries(forms)) {
      const args = ['--bits', '1501', '--sequences', 'all', '--format', format, '--json'];
      assert.deepEqual(await assessJson(write(`form.${format}`, content), ...args), expected);
      const piped = await runCommandOn(content, [...ASSESS, '-', ...args]);
      assert.deepEqual([piped.code, piped.stderr], [0, '']);
      assert.deepEqual(JSON.parse(piped.stdout), expected, format);
    }
  });

  it('counts the sequences to which each test applied and that passed it', async () => {
    const bytes = Buffer.concat([stream(1000), Buffer.alloc(500)]);
    const { summary } = await assessJson(
      write('counts.bin', bytes),
      '--bits',
      '4000',
      '--sequences',
      'all',
    );
    assert.deepEqual([summary.sequences, summary.complete], [3, true]);
    assert.deepEqual(summary.tests[0], { name: 'frequency', applicable: 3, passed: 2 });
    assert.deepEqual(summary.tests.at(-1), { name: 'linear_complexity', applicable: 0, passed: 0 });
    assert.deepEqual(summary.second_level, {
      judged: false,
      reason: 'needs at least 55 sequences, got 3',
    });
  });
});

describe('the second level of phm assess', () => {
  const TESTS = ['--test', 'frequency', '--test', 'cumulative_sums'];

  it('judges the rows of 60 sequences, with counts and classes taken from the reports', async () => {
    const file = write('sixty.bin', stream(7500));
    const { sequences, summary } = await assessJson(
      file,
      '--bits',
      '1000',
      '--sequences',
      'all',
      ...TESTS,
    );
    const { rows, ...verdict } = summary.second_level;
    const { expected_outside_interval, ...counts } = verdict;
    assert.deepEqual(counts, {
      judged: true,
      passed: true,
      family_alpha: 0.01,
      checks: 6,
      check_alpha: 0.01 / 6,
      rows_judged: 3,
      rows_failed: 0,
      rows_outside_interval: 0,
      rows_not_uniform: 0,
    });
    // Each of three rows is outside if at most 57 of 60 pass: 3 · P(X ≥ 3), X ~ Binomial(60, 1/100).
    assert.ok(Math.abs(expected_outside_interval - 3 * 0.022_404) < 1e-4);
    const ps = sequences.map((report) => report.tests[1].p_values[1]);
    const reverse = rows[2];
    assert.deepEqual([reverse.test, reverse.label], ['cumulative_sums', 'reverse']);
    assert.equal(reverse.passes, ps.filter((p) => p >= 0.01).length);
    assert.equal(reverse.proportion, reverse.passes / 60);
    for (const [i, count] of reverse.histogram.entries()) {
      const inClass = ps.filter((p) => Math.min(9, Math.floor(p * 10)) === i);
      assert.equal(count, inClass.length);
    }
  });

  it('fails a source with too many ones and names the rows', async () => {
    const bytes = stream(7500).map((byte, i) => (i % 2 === 0 ? byte | 0x11 : byte));
    const file = write('ones.bin', bytes);
    const { code, stdout } = await assess(
      file,
      '--bits',
      '1000',
      '--sequences',
      'all',
      ...TESTS,
      '--test',
      'rank',
    );
    assert.equal(code, 0);
    assert.match(stdout, /^SP 800-22 Rev\. 1a: 60 sequences of 1,000 bits, exact constants$/m);
    assert.match(stdout, /^ C1 {2}C2 .* C10 {2}P-VALUE +PROPORTION +STATISTICAL TEST$/m);
    assert.match(
      stdout,
      /^( *\d+ ){10} *\d\.\d+e-\d+ +\* +\d+\/60 \* {2}cumulative_sums forward {2}FAILED$/m,
    );
    assert.match(stdout, /^\* 3 of 3 rows outside their ±3σ interval/m);
    assert.match(stdout, /^ {2}Interval: 0\.9514643 to 1\.0000000, 58 to 60 of 60\.$/m);
    assert.match(stdout, /^Second level: FAILED, 3 of 3 rows failed\.$/m);
    assert.match(
      stdout,
      /^ {2}frequency: \d+\/60 with p >= 0\.01, binomial p = [0-9.]+e-\d+; P-value_T = /m,
    );
    assert.match(stdout, /^rank +0 of 0$/m);
    assert.doesNotMatch(stdout, /not judged/);
  });

  it('does not judge fewer than 55 sequences', async () => {
    const file = write('few.bin', stream(54 * 125));
    const { stdout } = await assess(file, '--bits', '1000', '--sequences', 'all', ...TESTS);
    assert.match(
      stdout,
      /^Second level \(SP 800-22 §4\.2\): not judged, needs at least 55 sequences, got 54\.$/m,
    );
    assert.doesNotMatch(stdout, /PROPORTION/);
  });
});

describe('phm assess --csv and --test', () => {
  it('writes one line for each sequence and p-value, in order', async () => {
    const bytes = stream(250);
    const file = write('lines.bin', bytes);
    const { code, stdout } = await assess(file, '--bits', '1000', '--sequences', 'all', '--csv');
    assert.equal(code, 0);
    const expected = ['sequence,test,index,label,p_value,passed'];
    for (const sequence of [1, 2]) {
      for (const outcome of runSuite(unpackBits(bytes, 1000, (sequence - 1) * 1000)).tests) {
        if (!outcome.applicable) continue;
        for (const [i, p] of outcome.pValues.entries()) {
          const label = P_VALUE_LABELS[outcome.name][i];
          expected.push(`${sequence},${outcome.name},${i + 1},${label},${p},${p >= 0.01}`);
        }
      }
    }
    assert.equal(expected.length, 1 + 2 * 7);
    assert.equal(stdout, `${expected.join('\n')}\n`);
  });

  it('runs only the named tests, in the order of the suite', async () => {
    const file = write('named.bin', stream(1000));
    const names = (report: AssessReport): TestName[] => report.tests.map(({ name }) => name);
    const args = ['assess', file, '--test', 'runs', '--test', 'frequency', '--test', 'runs'];
    const single = await commandJson<AssessReport & Record<string, unknown>>(args);
    assert.deepEqual(names(single), ['frequency', 'runs']);
    assert.equal(single.total_tests, 2);
    const { sequences, summary } = await assessJson(
      file,
      '--bits',
      '1000',
      '--sequences',
      'all',
      '--test',
      'dft',
      '--test',
      'rank',
    );
    assert.deepEqual(sequences.map(names), new Array(8).fill(['rank', 'dft']));
    assert.deepEqual(summary.tests[0], { name: 'rank', applicable: 0, passed: 0 });
    assert.equal(summary.tests[1].applicable, 8);
  });
});

describe('phm assess with wrong usage or unusable input', () => {
  const cases: [name: string, args: string[], code: number, words: RegExp][] = [
    [
      '--json with --csv',
      ['good.bin', '--json', '--csv'],
      2,
      /'--csv' cannot be used with .*'--json/,
    ],
    ['--sequences without --bits', ['good.bin', '--sequences', '2'], 2, /--sequences needs --bits/],
    [
      '--sequences 0',
      ['good.bin', '--bits', '9', '--sequences', '0'],
      2,
      /use a whole number of 1 or more/,
    ],
    ['--threads none', ['good.bin', '--threads', 'none'], 2, /--threads .*use a whole number/],
    ['--threads 1025', ['good.bin', '--threads', '1025'], 2, /use at most 1024/],
    ['an unknown test', ['good.bin', '--test', 'entropy'], 2, /use one of frequency, .*complexity/],
    ['--bits above 2^26', ['good.bin', '--bits', '67108865'], 2, /--bits needs .* to 67108864/],
    [
      'more sequences than the file holds',
      ['good.bin', '--bits', '1000', '--sequences', '9'],
      1,
      /good\.bin contains 8 sequences of 1,000 bits, fewer than --sequences 9; lower --sequences/,
    ],
    [
      'a missing file',
      ['none.bin', '--bits', '1000'],
      1,
      /none\.bin cannot be read: there is no such file/,
    ],
    ['an empty file', ['empty.bin', '--bits', '1000'], 1, /empty\.bin is empty/],
    [
      'too short for any test',
      ['good.bin', '--bits', '99'],
      1,
      /99 bits, too few for any test;.* 100/,
    ],
    [
      'too short for the tests named',
      ['good.bin', '--test', 'universal', '--test', 'rank'],
      1,
      /8,000 bits, too few for any of the selected tests; at least 38,912 are needed/,
    ],
    [
      'a character that is no hexadecimal digit',
      ['bad.hex', '--format', 'hex'],
      1,
      /bad\.hex, line 2, column 3: found "x", expected a hexadecimal digit or whitespace/,
    ],
    [
      'binary data as ASCII',
      ['good.bin', '--format', 'ascii'],
      1,
      /good\.bin, line 1, column 1: found .*expected 0, 1 or whitespace .*--format binary/,
    ],
  ];

  it('exits with code 1 or 2 and a message on stderr, without a report', async () => {
    write('good.bin', stream(1000));
    write('empty.bin', '');
    write('bad.hex', '00\nffxx\n');
    for (const [name, [file, ...flags], code, words] of cases) {
      const result = await assess(join(dataDir, file), ...flags);
      assert.equal(result.code, code, `${name}: ${result.stderr}`);
      assert.match(result.stderr, words, name);
      assert.equal(result.stdout, '', name);
    }
  });

  it('reports the sequences before a fault in the text, whatever the timing, and exits with code 1', async () => {
    const file = write('late.txt', `${'0110'.repeat(750)}\n${'01'.repeat(100)}2`);
    for (const threads of ['1', '2']) {
      const args = [
        '--bits',
        '1000',
        '--sequences',
        'all',
        '--format',
        'ascii',
        '--threads',
        threads,
        '--json',
      ];
      const { code, stdout, stderr } = await assess(file, ...args);
      assert.equal(code, 1);
      assert.match(
        stderr,
        /late\.txt, line 2, column 201: found "2".*finished part, 3 sequences$/m,
      );
      const { sequences, summary } = JSON.parse(stdout) as ManyReport;
      assert.deepEqual([sequences.length, summary.complete], [3, false]);
    }
  });

  it('reports the sequences of a pipe with fewer than --sequences, and exits with code 1', async () => {
    const args = [...ASSESS, '-', '--bits', '1000', '--sequences', '3', '--csv'];
    const { code, stdout, stderr } = await runCommandOn(stream(250), args);
    assert.equal(code, 1);
    assert.match(stderr, /^phm: standard input contains 2 sequences of 1,000 bits, fewer than/);
    assert.match(stdout, /^2,runs/m);
  });
});
