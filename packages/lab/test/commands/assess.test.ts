import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { aesCtr } from '../../../../test/support/lab/aes-stream.ts';
import { CommandError } from '../../../platform/src/commands/command-error.ts';
import {
  type AssessReport,
  minimumBits,
  resolveParameters,
  runPackedSuite,
  TEST_NAMES,
  unpackBits,
} from '../../../sp800-22/src/index-node.ts';
import { assess } from '../../src/commands/assess-file.ts';
import type { AssessOptions, InputRead } from '../../src/commands/file-run.ts';
import { makeOutput, type OutputKind } from '../../src/index-node.ts';
import { runCommand } from '../support/run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'phm-assess-'));
after(() => rmSync(folder, { recursive: true }));

/** Returns an AES-256-CTR stream, which passes the tests and is the same in every run. */
const stream = (length: number): Buffer => aesCtr(Buffer.alloc(32, 2), length);

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Returns the output of a run. */
async function output(
  kind: OutputKind,
  file: string,
  options: Partial<AssessOptions> = {},
): Promise<string> {
  let written = '';
  const sink = makeOutput(kind, (text) => {
    written += text;
  });
  await assess({ file, format: 'binary', constants: 'exact', threads: 1, ...options }, sink);
  return written;
}

const run = async (file: string, options?: Partial<AssessOptions>): Promise<AssessReport> =>
  JSON.parse(await output('json', file, options));

async function failure(promise: Promise<unknown>): Promise<CommandError> {
  const error = await promise.then(
    () => assert.fail('expected a CommandError'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof CommandError, String(error));
  return error;
}

test('phm-lab assess tests a whole binary file as one sequence, with all tests', async () => {
  const bytes = stream(131_072);
  const report = await run(write('whole.bin', bytes));
  const suite = runPackedSuite(bytes);
  assert.deepEqual([report.bits, report.constants], [2 ** 20, 'exact']);
  assert.deepEqual(
    [report.tests_passed, report.total_tests],
    [suite.testsPassed, TEST_NAMES.length],
  );
  assert.deepEqual(
    report.tests.map(({ name, p_values }) => [name, p_values]),
    suite.tests.map((outcome) => [outcome.name, outcome.applicable && outcome.pValues]),
  );
});

test('phm-lab assess --json has exactly the documented fields; passed is null where a test is inapplicable', async () => {
  const report = await run(write('short.bin', stream(200)));
  assert.deepEqual(Object.keys(report), [
    'bits',
    'constants',
    'alpha',
    'tests',
    'tests_passed',
    'total_tests',
    'summary',
  ]);
  assert.deepEqual(
    report.tests.map(({ name }) => name),
    [...TEST_NAMES],
  );
  const [frequency] = report.tests;
  assert.deepEqual(Object.keys(frequency), [
    'name',
    'applicable',
    'parameters',
    'labels',
    'p_values',
    'corrected_p',
    'statistics',
    'passed',
  ]);
  assert.deepEqual(
    report.tests.find(({ name }) => name === 'linear_complexity'),
    {
      name: 'linear_complexity',
      applicable: false,
      reason: 'needs at least 1,000,000 bits, got 1,600',
      parameters: {},
      labels: [],
      p_values: [],
      corrected_p: null,
      statistics: {},
      passed: null,
    },
  );
  assert.equal(report.total_tests, report.tests.filter(({ applicable }) => applicable).length);
});

test('phm-lab assess --bits tests only the first bits, in any number', async () => {
  const file = write('some.bin', stream(1000));
  const report = await run(file, { bits: 1237, sequences: 1 });
  assert.equal(report.bits, 1237);
  const bits = unpackBits(stream(1000), 1237);
  const ones = bits.reduce((sum, bit) => sum + bit, 0);
  assert.equal(report.tests[0].statistics.S_n, 2 * ones - 1237);
});

test('phm-lab assess reads the same sequence from ASCII digits and ignores whitespace', async () => {
  const bytes = stream(1000);
  const lines = unpackBits(bytes).join('').replace(/.{25}/g, '$&\r\n');
  const ascii = await run(write('digits.txt', `\n ${lines}\t`), { format: 'ascii' });
  assert.deepEqual(ascii, await run(write('digits.bin', bytes)));
});

test('phm-lab assess uses the constants of the NIST program on request', async () => {
  const file = write('constants.bin', stream(131_072));
  const report = await run(file, { constants: 'nist' });
  assert.equal(report.constants, 'nist');
  const exact = await run(file);
  const changed = report.tests.filter((t, i) => t.p_values[0] !== exact.tests[i].p_values[0]);
  assert.equal(changed.length, 3);
});

test('phm-lab assess --bits ignores ASCII characters after the last requested bit', async () => {
  const file = write('tail.txt', `${'01'.repeat(100)}this is not read`);
  assert.equal((await run(file, { format: 'ascii', bits: 200, sequences: 1 })).bits, 200);
  assert.equal((await failure(run(file, { format: 'ascii' }))).exitCode, 2);
});

test('phm-lab assess --sequences reads no more than it needs from an endless file', async () => {
  assert.equal((await run('/dev/zero', { bits: 1000, sequences: 1 })).bits, 1000);
});

test('phm-lab assess rejects a file above 2^26 bits and names --bits', async () => {
  const { message, exitCode } = await failure(run('/dev/zero'));
  assert.equal(
    message,
    '/dev/zero contains more than 67,108,864 bits; use --bits to cut it into sequences',
  );
  assert.equal(exitCode, 1);
});

test('phm-lab assess names the line and column of an ASCII character that is not a bit', async () => {
  const file = write('fault.txt', '0101\n0121\n');
  const { message, exitCode } = await failure(run(file, { format: 'ascii' }));
  assert.ok(
    message.startsWith(`${file}, line 2, column 3: found "2", expected 0, 1 or whitespace`),
  );
  assert.equal(exitCode, 2);
});

test('phm-lab assess shows an unprintable byte of ASCII input in hexadecimal', async () => {
  const file = write('binary.txt', Uint8Array.of(0x30, 0x07));
  const { message } = await failure(run(file, { format: 'ascii' }));
  assert.match(message, /line 1, column 2: found byte 0x07, .*--format binary/);
});

test('phm-lab assess refuses hexadecimal numbers without leading zeros', async () => {
  const file = write('uneven.txt', '0x1f 0x1c\n0x7 0x12\n');
  const { message, exitCode } = await failure(run(file, { format: 'hex' }));
  assert.equal(
    message,
    `${file}, line 2, column 1: found 1 digit after 0x, expected 2 as in the first number: write leading zeros, such as with "0x%02x"`,
  );
  assert.equal(exitCode, 2);
});

test('phm-lab assess rejects --bits above the length of the file', async () => {
  const file = write('ten.bin', new Uint8Array(10));
  const { message, exitCode } = await failure(run(file, { bits: 1000 }));
  assert.equal(
    message,
    `${file} contains 80 bits, fewer than --bits 1000; lower --bits or leave it out`,
  );
  assert.equal(exitCode, 1);
});

test('phm-lab assess rejects --bits out of range as a usage error', async () => {
  for (const bits of [0, -1, 1.5, NaN, 2 ** 26 + 1]) {
    const { message, exitCode } = await failure(run('unused', { bits }));
    assert.equal(message, `--bits needs a whole number from 1 to 67108864, got ${bits}`);
    assert.equal(exitCode, 2);
  }
});

test('phm-lab assess rejects an empty file, a missing file and a directory, each with its reason', async () => {
  const empty = write('empty.bin', '');
  assert.equal((await failure(run(empty))).message, `${empty} is empty`);
  const blank = write('blank.txt', ' \n');
  assert.equal((await failure(run(blank, { format: 'ascii' }))).message, `${blank} is empty`);
  const missing = join(folder, 'missing.bin');
  assert.equal(
    (await failure(run(missing))).message,
    `${missing} cannot be read: there is no such file`,
  );
  assert.equal((await failure(run(folder))).message, `${folder} is a directory, not a file`);
});

test('phm-lab assess rejects a sequence that is too short for any test', async () => {
  const file = write('tiny.bin', new Uint8Array(12));
  const { message } = await failure(run(file));
  assert.equal(message, `${file} gives 96 bits, too few for any test; at least 100 are needed`);
});

test('phm-lab assess says that --bits is too few, not that the input is', async () => {
  const file = write('enough.bin', stream(1000));
  const short = await failure(run(file, { bits: 50 }));
  assert.equal(short.message, '--bits 50 is too few for any test; at least 100 are needed');
  const one = await failure(run(file, { bits: 1000, tests: ['universal'] }));
  const least = 'at least 387840 are needed';
  assert.equal(one.message, `--bits 1000 is too few for any of the selected tests; ${least}`);
});

test('phm-lab assess prints an aligned table with smallest p-values, reasons and totals', async () => {
  const text = await output('text', write('table.bin', stream(131_072)));
  const lines = text.split('\n');
  assert.equal(lines[0], 'SP 800-22 Rev. 1a: 1,048,576 bits, exact constants');
  const head = lines.findIndex((line) => line.startsWith('test '));
  const column = lines[head].indexOf('result');
  const table = lines.slice(head + 1, head + 1 + TEST_NAMES.length);
  for (const line of table) assert.match(line.slice(column), /^(passed|failed)$/);
  assert.match(
    text,
    /^non_overlapping_template {2,}[0-9.e-]+ \(smallest of 148\) {2,}0\.\d{6} {2,}passed$/m,
  );
  assert.match(text, /^frequency {2,}(0\.\d{6}) {2,}\1 {2,}passed$/m);
  assert.ok(text.includes(` of ${TEST_NAMES.length} tests passed.\n`));
  assert.match(text, /NIST certifies nothing by SP 800-22/);
  assert.ok(text.endsWith('\n'));
});

test('phm-lab assess marks failed tests, inapplicable tests and runs without its prerequisite', async () => {
  const text = await output('text', write('ones.bin', new Uint8Array(1000).fill(0xff)));
  assert.match(text, /^frequency {2,}0 {2,}0 {2,}failed$/m);
  assert.match(text, /^runs {2,}0 \(share of ones is off\) {2,}0 {2,}failed$/m);
  assert.match(
    text,
    /^universal {2,}- {2,}- {2,}not applicable: needs at least 387,840 bits, got 8,000$/m,
  );
  const short = TEST_NAMES.filter(
    (name) => minimumBits(name, resolveParameters(8000)) > 8000,
  ).length;
  const counts = `0 of ${TEST_NAMES.length - short} applicable tests passed; ${short} of ${TEST_NAMES.length} not applicable.`;
  assert.ok(text.split('\n').includes(counts), text);
});

// A file is read ahead in chunks of 1 MiB, and one thread tests short sequences itself.
for (const bits of [1_000_003, 2 ** 20, 2 ** 23 + 1]) {
  test(`phm-lab assess cuts a file of several chunks into sequences of ${bits} bits, with any number of threads`, async () => {
    const bytes = stream(2_621_445);
    const file = write('chunks.bin', bytes);
    const reports = [1, 2].map(async (threads) => {
      let input: InputRead | undefined;
      let written = '';
      const sink = makeOutput('json', (text) => {
        written += text;
      });
      const format = { format: 'binary', constants: 'exact' } as const;
      await assess({ file, ...format, bits, tests: ['frequency', 'runs'], threads }, sink, {
        onInputRead: (read) => {
          input = read;
        },
      });
      assert.equal(input?.sha256, createHash('sha256').update(bytes).digest('hex'));
      assert.equal(input?.bytes, bytes.length);
      return written;
    });
    const [one, two] = await Promise.all(reports);
    assert.equal(one, two);
    const { sequences = [JSON.parse(one)] } = JSON.parse(one);
    const all = unpackBits(bytes, bytes.length * 8);
    const sums = Array.from({ length: Math.floor(all.length / bits) }, (_, i) => {
      const part = all.subarray(i * bits, (i + 1) * bits);
      return 2 * part.reduce((sum, bit) => sum + bit, 0) - bits;
    });
    assert.deepEqual(
      sequences.map(({ tests }: AssessReport) => tests[0].statistics.S_n),
      sums,
    );
  });
}

test('phm-lab assess and assess-entropy refuse decimal numbers and other texts', async () => {
  const bytes = aesCtr(Buffer.alloc(32, 11), 2_000);
  const texts = [
    ['decimal.txt', [...bytes].join('\n'), 'decimal numbers', /use --format numbers/],
    ['base64.txt', bytes.toString('base64'), 'base64', /use --format base64/],
    [
      'real.txt',
      Array.from(bytes, (x) => `${x - 128}.5`).join('\n'),
      'decimal numbers',
      /: write them as whole numbers from 0 up first;/,
    ],
    ['hex.txt', bytes.toString('hex'), 'hexadecimal digits', /use --format hex/],
    [
      'hex.csv',
      `n,raw\n${Array.from(bytes, (x, i) => `${i},${Buffer.of(x).toString('hex')}\n`).join('')}`,
      '2 columns of numbers; numbers would read all',
      /use --format csv:2:hex/,
    ],
  ] as const;
  for (const [name, text, looks, remedy] of texts) {
    const file = write(name, text);
    const refused = await runCommand(['assess', file, '--test', 'frequency']);
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.ok(refused.stderr.includes(`${file} looks like ${looks}. No verdict: `), refused.stderr);
    assert.match(refused.stderr, remedy);
    assert.equal((await runCommand(['assess-entropy', file])).code, 2);
    const estimate = await runCommand(['assess-entropy', file, '--format', 'binary']);
    assert.ok(
      estimate.stderr.startsWith(`warning: ${file} looks like ${looks}. Each byte is read`),
    );
  }
  const file = write('decimal.txt', [...bytes].join('\n'));
  const args = ['assess', file, '--test', 'frequency', '--format', 'binary'];
  const { code, stderr } = await runCommand(args);
  assert.deepEqual([code, stderr], [0, 'hint: what is tested begins as a text: give its format\n']);
});
