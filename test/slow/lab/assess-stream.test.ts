/**
 * `phm assess` on many sequences, as users see it: stdout, stderr, exit code. The command runs in this process;
 * `test/slow/lab/assess-interrupted.test.ts` has pipes and signals.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import {
  type AssessReport,
  KERNELS_SHA256,
  resolveParameters,
  rowLabels,
  runSuite,
  type TestName,
  toAssessReport,
  unpackBits,
} from '#sp800-22';
import { PARTS } from '../../../packages/lab/src/report/verdict-text.ts';
import { PROJECT_VERSION, softwareName } from '../../../src/process/version.ts';
import { aesCtr } from '../../support/lab/aes-stream.ts';
import { commandJson, runCommand, runCommandOn } from '../../support/servers/run-command.ts';
import { makeDataDir, removeDataDir } from '../../support/servers/server.ts';

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

interface Part {
  readonly name: string;
  readonly alpha: number;
  readonly p?: number;
  readonly passed?: boolean;
}

function partOf({ verdict }: ManyReport['summary'], name: string): Part {
  const part = verdict.parts.find((one: Part) => one.name === name);
  assert.ok(part);
  return part;
}

/** One thread: short sequences take less time than starting another one. */
const ASSESS = ['assess', '--threads', '1'];

/** Returns the results of a JSON report, without the facts of its trace. */
async function resultsOf<T>(args: readonly string[]): Promise<T> {
  const { report, input, options, software, created, ...results } = await commandJson(args);
  for (const fact of [report, input, options, software, created]) assert.ok(fact);
  return results as T;
}

const assessJson = (...args: string[]): Promise<ManyReport> =>
  resultsOf<ManyReport>([...ASSESS, ...args]);

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
    const single = await resultsOf<AssessReport & Pick<ManyReport, 'summary'>>([
      'assess',
      write('first.bin', stream(250)),
    ]);
    assert.equal(sequences.length, 2);
    const { summary, ...report } = single;
    assert.deepEqual(sequences[0], report);
    // The single run has a summary of its own.
    assert.deepEqual([summary.sequences, summary.complete, summary.passed], [1, true, true]);
  });

  it('writes the single report for one sequence', async () => {
    const file = write('one.bin', stream(250));
    const whole = await resultsOf<AssessReport>(['assess', file]);
    assert.deepEqual(await resultsOf(['assess', file, '--bits', '2000']), whole);
    assert.deepEqual(Object.keys(whole)[3], 'tests');
    const longer = write('longer.bin', stream(5000));
    const args = ['assess', longer, '--bits', '2000', '--sequences', '1'];
    assert.deepEqual(await resultsOf(args), whole);
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
      const { sequences, summary } = JSON.parse(piped.stdout);
      assert.deepEqual(
        { sequences, summary },
        { sequences: expected.sequences, summary: expected.summary },
        format,
      );
    }
  });

  it('skips the bits of --offset, of a text bits of its digits, and counts them as read', async () => {
    const bytes = stream(1000);
    const flags = ['--bits', '1501', '--sequences', 'all', '--offset'];
    const expected = expectedPValues(bytes, 1501, 5).slice(2);
    for (const [format, content] of [
      ['binary', bytes],
      ['hex', bytes.toString('hex')],
    ] as const) {
      const file = write(`offset.${format}`, content);
      const report = await assessJson(file, ...flags, '3002', '--format', format);
      assert.deepEqual(report.sequences.map(pValues), expected, format);
    }
    const { input } = await commandJson<{ input: object }>([
      ...ASSESS,
      write('offset', bytes),
      ...flags,
      '3002',
    ]);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    assert.deepEqual({ ...input, offset_bits: 3002, bytes: 1000, sha256 }, input);
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
    const long = summary.tests.find((test: { name: string }) => test.name === 'linear_complexity');
    assert.deepEqual(long, { name: 'linear_complexity', applicable: 0, passed: 0 });
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
      family_alpha: 0.003,
      checks: 6,
      check_alpha: 0.003 / 6,
      rows_judged: 3,
      rows_failed: 0,
      rows_outside_interval: 0,
      rows_not_uniform: 0,
    });
    const part = partOf(summary, 'second_level');
    const ps_of_checks = rows.flatMap((row: Record<string, { p: number }>) => [
      row.proportion_check.p,
      row.uniformity_check.p,
    ]);
    assert.deepEqual([summary.passed, part.passed, part.alpha], [true, true, 0.003]);
    assert.equal(part.p, Math.min(1, 6 * Math.min(...ps_of_checks)));
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
    assert.match(stdout, /^Source: FAILED\.$/m);
    assert.match(stdout, /^smallest p-value +\S+e-\d+ +0\.003 +FAILED +\w+ of sequence \d+: /m);
    assert.match(stdout, /^second level +\S+e-\d+ +0\.003 +FAILED +3 of 3 rows failed$/m);
    assert.match(
      stdout,
      /^low sequences +\S+e-\d+ +0\.002 +FAILED +\d+ sequences below \S+, at most /m,
    );
    assert.match(stdout, /^Second level: FAILED, 3 of 3 rows failed\.$/m);
    assert.match(
      stdout,
      /^ {2}frequency: \d+\/60 with p >= 0\.01, binomial p = [0-9.]+e-\d+; uniformity p = /m,
    );
    assert.match(stdout, /^rank +not applicable$/m);
    // No row, and of the parts those that look at the data.
    const unjudged = stdout.split('\n').filter((line) => line.includes('not judged'));
    assert.deepEqual(
      unjudged.map((line) => line.split(' ')[0]),
      ['pieces', 'drift', 'repeats'],
    );
  });

  it('does not judge rows of fewer than 55 sequences, and the other parts do', async () => {
    const file = write('few.bin', stream(54 * 125));
    const { stdout } = await assess(file, '--bits', '1000', '--sequences', 'all', ...TESTS);
    assert.match(
      stdout,
      /^second level +- +0\.003 +not judged +needs at least 55 sequences, got 54$/m,
    );
    assert.doesNotMatch(stdout, /PROPORTION|Second level:/);
    assert.match(stdout, /^Source: passed\.$/m);
    assert.match(stdout, /^smallest p-value +\S+ +0\.003 +passed /m);
    assert.match(stdout, /^low sequences +\S+ +0\.002 +passed /m);
  });
});

describe('phm assess on a text without --format', () => {
  it('refuses it and names the option, unless --format is given', async () => {
    const hex = write('refused.hex', stream(100).toString('hex'));
    const { code, stdout, stderr } = await assess(hex);
    assert.deepEqual([code, stdout], [2, '']);
    assert.ok(
      stderr.endsWith(
        `${hex} looks like hexadecimal digits. No verdict: use --format hex; --format binary reads it as it is\n`,
      ),
      stderr,
    );
    assert.equal((await assess(hex, '--format', 'hex')).stderr, '');
    const asItIs = await assess(hex, '--format', 'binary');
    assert.equal(asItIs.stderr, 'hint: what is tested begins as a text: give its format\n');
    const zstd = write('refused.zst', zstdCompressSync(stream(100)));
    assert.match((await assess(zstd)).stderr, /looks like zstd\. No verdict: use zstd -dc \S+ \|/);
    const short = write('short.txt', '01'.repeat(7));
    const { stderr: first } = await assess(short, '--bits', '1000');
    assert.match(first, /use --format ascii/);
  });
});

describe('phm assess --fail', () => {
  const cases: [name: string, bytes: Uint8Array, flags: string[], code: number, warning: RegExp][] =
    [
      ['a sequence that passes', stream(250), [], 0, /^$/],
      ['a sequence of zeros', Buffer.alloc(250), [], 1, /^$/],
      // Sequence 10 of the stream of key 9 has p = 0.004: it fails its test, and the source passes.
      [
        'a sequence with a failed test',
        aesCtr(Buffer.alloc(32, 9), 1250).subarray(9 * 125),
        [],
        0,
        /^$/,
      ],
      ['a source that passes', stream(7500), ['--bits', '1000', '--sequences', 'all'], 0, /^$/],
      [
        'a source that fails',
        Buffer.alloc(7500),
        ['--bits', '1000', '--sequences', 'all'],
        1,
        /^$/,
      ],
      [
        'two sequences of zeros',
        Buffer.alloc(250),
        ['--bits', '1000', '--sequences', 'all'],
        1,
        /^$/,
      ],
      ['two sequences that pass', stream(250), ['--bits', '1000', '--sequences', 'all'], 0, /^$/],
      [
        'a source that is not judged',
        stream(250),
        ['--bits', '1000', '--sequences', 'all', '--test', 'serial', '--serial-m', '2'],
        0,
        /^warning: --fail: the source is not judged: no test applied that could fail it\n$/,
      ],
    ];

  it('exits with code 1 if the report says FAILED, else with 0', async () => {
    for (const [name, bytes, flags, code, warning] of cases) {
      const test = flags.includes('--test') ? [] : ['--test', 'frequency'];
      const args = [write('fail.bin', bytes), ...test, ...flags];
      const result = await assess(...args, '--fail');
      assert.equal(result.code, code, name);
      assert.match(result.stderr, warning, name);
      assert.equal(/^Source: FAILED\.$/m.test(result.stdout), code === 1, name);
      const { code: withoutFail, stderr } = await assess(...args);
      assert.deepEqual([withoutFail, stderr], [0, ''], name);
    }
  });
});

describe('phm assess --nist-report', () => {
  it('writes the file of the NIST program, byte for byte', async () => {
    const key = Buffer.alloc(32);
    key[31] = 1;
    // The first 60 sequences of 1024 bits, and the file that STS 2.1.2 writes for them.
    const file = write('nist.bin', aesCtr(key, 7680));
    const path = join(dataDir, 'final.txt');
    const names = ['frequency', 'block_frequency', 'cumulative_sums', 'runs', 'dft'];
    const tests = names.flatMap((name) => ['--test', name]);
    const sequences = ['--bits', '1024', '--sequences', 'all', '--block-frequency-m', 'nist'];
    const args = [file, ...tests, ...sequences, '--constants', 'nist', '--nist-report', path];
    assert.equal((await assess(...args)).code, 0);
    const expected = readFileSync('test/vectors/sp800-22/final-analysis-report.txt', 'utf8');
    assert.equal(readFileSync(path, 'utf8'), expected.replace('<n.bin>', `<${file}>`));
    const refused = await assess(file, '--nist-report', file);
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /--nist-report .* would replace the input/);
  });
});

describe('the trace of phm assess', () => {
  const AT = { SOURCE_DATE_EPOCH: '1700000000' };
  const sha256 = (bytes: string | Uint8Array): string =>
    createHash('sha256').update(bytes).digest('hex');
  const inputOf = async (...args: string[]) =>
    (await commandJson<{ input: Record<string, unknown> }>([...ASSESS, ...args])).input;

  it('has input, options, software and time in the JSON, and the same facts in text and CSV', async () => {
    const bytes = stream(250);
    const file = write('trace.bin', bytes);
    const args = [...ASSESS, file, '--test', 'runs', '--test', 'block_frequency'];
    const report = await commandJson(args, AT);
    assert.deepEqual(report.input, {
      name: 'trace.bin',
      size: 250,
      bytes: 250,
      sha256: sha256(bytes),
      format: 'binary',
      offset_bits: 0,
      program: `phm ${PROJECT_VERSION}`,
    });
    const { parameters, ...options } = report.options as Record<string, unknown>;
    assert.deepEqual(options, {
      bits: null,
      sequences: 1,
      tests: ['block_frequency', 'runs'],
      supplements: [],
      constants: 'exact',
    });
    assert.deepEqual(parameters, resolveParameters(2000));
    const software = { build: softwareName(), kernels_sha256: KERNELS_SHA256 };
    assert.deepEqual(report.software, software);
    assert.equal(report.created, '2023-11-14T22:13:20Z');
    for (const kind of ['', '--csv']) {
      const { stdout } = await runCommand([...args, ...(kind ? [kind] : [])], AT);
      const facts = stdout.slice(stdout.lastIndexOf('Input'));
      for (const fact of [
        'trace.bin',
        '0 to 1999, the end of the input',
        '250',
        sha256(bytes),
        'block_frequency, runs',
        'block_frequency M = 128 and 32, N = 15 and 62',
        softwareName(),
        ...KERNELS_SHA256,
        '2023-11-14T22:13:20Z',
      ]) {
        assert.ok(facts.includes(String(fact)), `${kind} ${fact}`);
      }
    }
  });

  it('has the digest of the bytes that the sequences used, and no size of a pipe', async () => {
    const bytes = stream(1000);
    const file = write('part.bin', bytes);
    const first = await inputOf(file, '--bits', '1001', '--sequences', '2');
    assert.deepEqual([first.bytes, first.sha256], [251, sha256(bytes.subarray(0, 251))]);
    const all = await inputOf(file, '--bits', '1001', '--sequences', 'all');
    assert.deepEqual([all.bytes, all.sha256], [1000, sha256(bytes)]);
    const text = `${bytes.toString('hex').replace(/.{33}/g, '$&\n')}\n`;
    const hex = await inputOf(write('part.hex', text), '--format', 'hex');
    assert.deepEqual([hex.size, hex.bytes, hex.sha256], [text.length, text.length, sha256(text)]);
    const used = await inputOf(join(dataDir, 'part.hex'), '--format', 'hex', '--bits', '800');
    assert.deepEqual([used.bytes, used.sha256], [206, sha256(text.slice(0, 206))]);
    const { stdout } = await runCommandOn(bytes, [...ASSESS, '-', '--json']);
    const piped = JSON.parse(stdout).input;
    assert.deepEqual(
      [piped.name, piped.size, piped.sha256],
      ['standard input', null, sha256(bytes)],
    );
  });

  it('has the texts of the caller, and an identification that changes with them', async () => {
    const file = write('named.bin', stream(250));
    const args = [...ASSESS, file, '--test', 'runs'];
    const texts = ['--operator', ' Zoë <z> ', '--laboratory', 'Lab & Co', '--note', ''];
    const reportOf = async (...more: string[]) =>
      (await commandJson<{ report: Record<string, string> }>([...args, ...more], AT)).report;
    const [plain, named] = [await reportOf(), await reportOf(...texts)];
    assert.deepEqual(Object.keys(plain), ['id']);
    assert.deepEqual(named, { id: named.id, laboratory: 'Lab & Co', operator: 'Zoë <z>' });
    const start = sha256(stream(250)).slice(0, 12);
    for (const { id } of [plain, named]) assert.match(id, new RegExp(`^${start}-[0-9a-f]{8}$`));
    assert.notEqual(named.id, plain.id);
    const later = { SOURCE_DATE_EPOCH: '1800000000' };
    for (const kind of [[], ['--csv']]) {
      const { stdout } = await runCommand([...args, ...texts, ...kind], later);
      for (const fact of [named.id, 'Lab & Co', 'Zoë <z>']) assert.ok(stdout.includes(fact), fact);
    }
  });

  it('refuses a text that is too long or has a line end', async () => {
    for (const text of ['x'.repeat(501), 'a\nb']) {
      const { code, stderr } = await runCommand([...ASSESS, 'none.bin', '--device', text]);
      assert.equal(code, 2);
      assert.match(stderr, /"device" expected one line of at most 500 characters, got /);
    }
  });

  it('takes the time of creation from SOURCE_DATE_EPOCH, which must be a number', async () => {
    const { code, stderr } = await runCommand([...ASSESS, 'none.bin'], { SOURCE_DATE_EPOCH: 'x' });
    assert.equal(code, 2);
    assert.match(stderr, /SOURCE_DATE_EPOCH expected seconds since 1970, got "x"/);
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
          const label = rowLabels(outcome.name, 1000)[i];
          expected.push(`${sequence},${outcome.name},${i + 1},${label},${p},${p >= 0.01}`);
        }
      }
    }
    assert.ok(expected.length > 2 * 8);
    const [table, facts] = stdout.split(/# Report,.*\n# Input,/);
    const verdict = table.indexOf('# Source,');
    assert.equal(table.slice(0, verdict), `${expected.join('\n')}\n`);
    const rows = table.slice(verdict).trimEnd().split('\n');
    const [first, second, ...parts] = rows.map((row) =>
      /^# ([^,]+),"([^"]+)"$/.exec(row)?.slice(1),
    );
    const ps = expected.slice(1).map((line) => line.split(','));
    const [least] = ps.toSorted((a, b) => Number(a[4]) - Number(b[4]));
    const from = 1000 * (Number(least[0]) - 1);
    assert.deepEqual(first, ['Source', 'passed']);
    assert.equal(second?.[0], 'Smallest p-value');
    assert.ok(second[1].startsWith(`${Number(least[4]).toFixed(6)}, ${least[1]}`), second[1]);
    assert.ok(
      second[1].endsWith(
        `, sequence ${least[0]}, bits ${from.toLocaleString('en')} to ${(from + 999).toLocaleString('en')} of the input.`,
      ),
      second[1],
    );
    assert.deepEqual(
      parts.map((part) => part?.[0]),
      Object.values(PARTS).map(({ title }) => `Part: ${title}`),
    );
    assert.equal(parts[1]?.[1], 'not judged, p -, limit 0.003: needs at least 55 sequences, got 2');
    assert.match(facts, /^"lines\.bin"\n(# [A-Z][^\n,]+,"[^\n"]+"\n)+$/);
  });

  it('adds the supplements on request, labelled, with a verdict of their own', async () => {
    const file = write('supplements.bin', stream(60 * 1280));
    const many = [file, '--bits', '10240', '--sequences', 'all'];
    const { sequences, summary } = await assessJson(...many, '--supplements');
    const [first] = sequences[0].supplements ?? [];
    assert.deepEqual(
      [first.name, first.standard, first.applicable, first.passed],
      ['autocorrelation', 'not part of SP 800-22', true, (first.p_value ?? 0) >= 0.01],
    );
    const { standard, tests, second_level } = summary.supplements;
    assert.equal(standard, 'not part of SP 800-22');
    assert.deepEqual(
      tests.map(({ name, applicable }: { name: string; applicable: number }) => [name, applicable]),
      [
        ['autocorrelation', 60],
        ['spectral_peak', 60],
        ['byte_distribution', 60],
      ],
    );
    assert.equal(second_level.rows_judged, 3);
    const verdicts = [summary.verdict, summary.supplements.verdict];
    assert.equal(summary.passed, verdicts[0].passed && verdicts[1].passed);
    // The other parts look at the data, and belong to the tests.
    assert.deepEqual(
      verdicts[1].parts.map(({ name, judged }: Part & { judged: boolean }) => [name, judged]),
      [
        ['smallest', true],
        ['second_level', true],
        ['counts', true],
      ],
    );
    const csv = await assess(...many, '--csv', '--test', 'spectral_peak');
    assert.match(csv.stdout, /^1,spectral_peak,1,not part of SP 800-22,0\.\d+,(true|false)$/m);
    const text = await assess(...many, '--supplements');
    assert.match(text.stdout, /^Supplements, not part of SP 800-22:$/m);
    assert.match(text.stdout, /^Supplements: passed\.$/m);
    assert.match(
      text.stdout.split(/^Supplements: passed/m)[1],
      /^second level .* 0 of 3 rows failed$/m,
    );
    const none = await assess(...many);
    assert.doesNotMatch(none.stdout, /Supplements[:,]|supplements passed/);
    assert.match(none.stdout, /^Supplements +none$/m);
  });

  it('fails a source by a supplement alone', async () => {
    // Each half of a sequence is the same.
    const block = stream(640 * 60);
    const bytes = Buffer.concat(
      Array.from({ length: 60 }, (_, i) => {
        const half = block.subarray(640 * i, 640 * i + 640);
        return Buffer.concat([half, half]);
      }),
    );
    const file = write('halves.bin', bytes);
    const many = [file, '--bits', '10240', '--sequences', 'all', '--test', 'runs'];
    const { summary } = await assessJson(...many, '--test', 'autocorrelation');
    const { verdict, second_level, supplements } = summary;
    assert.deepEqual([verdict.passed, second_level.passed], [true, true]);
    assert.deepEqual([supplements.verdict.passed, supplements.second_level.passed], [false, false]);
    assert.equal(summary.passed, false);
  });

  it('runs the tests with the parameters of the command line, and reports them', async () => {
    const file = write('parameters.bin', stream(1000));
    const tests = [
      '--test',
      'block_frequency',
      '--test',
      'serial',
      '--test',
      'approximate_entropy',
    ];
    const lengths = ['--block-frequency-m', 'nist', '--block-frequency-m', '200'];
    const patterns = ['--serial-m', '5', '--approximate-entropy-m', '4'];
    const report = await commandJson<AssessReport & Record<string, unknown>>([
      'assess',
      file,
      ...tests,
      ...lengths,
      ...patterns,
    ]);
    const bits = unpackBits(stream(1000));
    const parameters = {
      blockFrequencyM: ['nist', 200],
      serialM: 5,
      approximateEntropyM: 4,
    } as const;
    const only = ['block_frequency', 'serial', 'approximate_entropy'] as const;
    assert.deepEqual(
      pValues(report),
      pValues(toAssessReport(runSuite(bits, { only, parameters }))),
    );
    assert.deepEqual(
      report.tests.map((test) => test.parameters),
      [{ M: [128, 200], N: [62, 40] }, { m: 4 }, { m: 5 }],
    );
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
      /use "all" or a whole number of 1 or more, in at most 15 digits, such as 1048576\.$/m,
    ],
    ['--bits 1e6', ['good.bin', '--bits', '1e6'], 2, /use a whole number of 1 or more, in at/],
    ['--offset -1', ['good.bin', '--offset', '-1'], 2, /use a whole number of 0 or more/],
    [
      'a parameter of a test that is not run',
      ['good.bin', '--test', 'runs', '--template-length', '5'],
      2,
      /^phm: --template-length needs --test non_overlapping_template, or no --test at all$/m,
    ],
    [
      '--block-frequency-m foo',
      ['good.bin', '--block-frequency-m', 'foo'],
      2,
      /use "nist", "recommended" or a whole number/,
    ],
    ['--threads none', ['good.bin', '--threads', 'none'], 2, /--threads .*use a whole number/],
    ['--threads 1025', ['good.bin', '--threads', '1025'], 2, /use at most 1024/],
    [
      'a parameter outside the bounds of the standard',
      ['good.bin', '--serial-m', '25'],
      2,
      /--serial-m .* is invalid\. use an integer from 2 to 24 \(bounds of this suite; SP 800-22 §2\.11\.7 has m/,
    ],
    [
      'a block length below the bounds of the standard',
      ['good.bin', '--block-frequency-m', '19'],
      2,
      / is invalid\. use .* an integer M ≥ 20 \(SP 800-22 §2\.2\.7\)\.$/m,
    ],
    [
      'a block length too short for the sequence',
      ['good.bin', '--block-frequency-m', '80'],
      2,
      /--block-frequency-m expected .*integer M ≥ 20, M > 0\.01 n = 80 \(SP 800-22 §2\.2\.7\), got 80/,
    ],
    ['an unknown test', ['good.bin', '--test', 'entropy'], 2, /use one of frequency, .*complexity/],
    ['--bits above 2^26', ['good.bin', '--bits', '67108865'], 2, /--bits needs .* to 67108864/],
    [
      'more sequences than the file holds after --offset',
      ['good.bin', '--bits', '1000', '--sequences', '8', '--offset', '8'],
      1,
      /good\.bin contains 7 sequences of 1,000 bits after --offset 8, fewer than --sequences 8;/,
    ],
    [
      'an --offset beyond the input',
      ['good.bin', '--offset', '8000'],
      1,
      /good\.bin contains no bits after --offset 8000$/m,
    ],
    [
      'more sequences than the file holds',
      ['good.bin', '--bits', '1000', '--sequences', '9'],
      1,
      /good\.bin contains 8 sequences of 1,000 bits, fewer than --sequences 9; lower --sequences/,
    ],
    [
      'a missing file',
      ['none.bin', '--bits', '1000'],
      2,
      /none\.bin cannot be read: there is no such file/,
    ],
    ['an empty file', ['empty.bin', '--bits', '1000'], 1, /empty\.bin is empty/],
    [
      'too short for any test',
      ['good.bin', '--bits', '99'],
      1,
      /--bits 99 is too few for any test; at least 100/,
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
      2,
      /bad\.hex, line 2, column 3: found "x", expected a hexadecimal digit, whitespace, 0x before/,
    ],
    [
      'binary data as ASCII',
      ['good.bin', '--format', 'ascii'],
      2,
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

  it('reports the sequences before a fault in the text, whatever the timing, and exits with code 2', async () => {
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
      assert.equal(code, 2);
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
