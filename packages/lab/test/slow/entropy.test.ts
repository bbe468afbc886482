/** `phm-lab assess-entropy` as users see it: stdout, stderr, exit code. The command runs in this process. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { aesBits, aesBytes, REFERENCES } from '../../../../test/sp800-90b/ea-non-iid.ts';
import { assessNonIid, type RestartAssessment } from '../../../sp800-90b/src/index.ts';
import { claimJson, claimText } from '../../src/entropy/claim.ts';
import { restartReport } from '../../src/entropy/restarts.ts';
import { textOf } from '../../src/report/text.ts';
import { entropyFiles } from '../support/entropy-files.ts';
import { runCommandOn, SOFTWARE } from '../support/run-command.ts';

const { path, write, phm } = entropyFiles();

describe('phm-lab assess-entropy', () => {
  it('writes every figure as JSON, and nothing to stderr, for enough samples', async () => {
    const file = write('bits.bin', aesBits());
    const { code, stdout, stderr } = await phm(file, '--bits-per-symbol', '1', '--json');
    assert.deepEqual([code, stderr], [0, '']);
    const report = JSON.parse(stdout);
    const { literal, bitstring, ...rest } = report;
    assert.deepEqual(Object.keys(rest), [
      'report',
      'input',
      'options',
      'software',
      'created',
      'warnings',
      'samples',
      'enough_samples',
      'bits_per_symbol',
      'alphabet_size',
      'bitstring_bits',
      'h_original',
      'h_bitstring',
      'min_entropy_per_symbol',
      'min_entropy_per_bit',
      'h_submitter',
      'h_initial',
      'assessed',
    ]);
    assert.deepEqual([report.samples, report.enough_samples, bitstring], [1_000_000, true, null]);
    assert.deepEqual(report.warnings, []);
    assert.equal(literal.lag.correct, REFERENCES.bits.literal.lag.correct);
    assert.ok('p_global_upper' in literal.lag);
    const { minEntropyPerSymbol } = REFERENCES.bits;
    assert.ok(Math.abs(report.min_entropy_per_symbol - minEntropyPerSymbol) < 1e-11);
  });

  it('writes a table, a caveat, and a warning for too few samples', async () => {
    const file = write('bytes.bin', aesBytes().subarray(0, 12_000));
    const { code, stdout, stderr } = await phm(file);
    assert.equal(code, 0);
    assert.match(stderr, /^warning: 12,000 samples; SP 800-90B section 3\.1\.1 requires 1,000,000/);
    assert.match(stdout, /^12,000 samples of 8 bits, 256 different values\n/);
    for (let section = 1; section <= 10; section++) {
      assert.match(stdout, new RegExp(`^6\\.3\\.${section} +\\S`, 'm'));
    }
    assert.match(stdout, /^6\.3\.2 +collision +- +0\.\d{6}$/m);
    assert.match(stdout, /^Estimate +\d\.\d{6} bits per symbol, 0\.\d{6} bits per bit$/m);
    assert.match(stdout, /does not prove entropy/);
  });

  it('reads standard input', async () => {
    const input = aesBytes().subarray(0, 5_000);
    const { code, stdout } = await runCommandOn(input, ['assess-entropy', '-', '--json']);
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).samples, 5_000);
  });

  // test/campaigns/estimators.test.ts runs the command on a matrix.
  it('writes a table of the restart tests', () => {
    const { literal } = assessNonIid(aesBits().subarray(0, 10_000), { bitsPerSymbol: 1 });
    const assessment: RestartAssessment = {
      bitsPerSymbol: 1,
      alphabetSize: 2,
      initialMinEntropy: 0.75,
      sanityCheck: { maxCount: 560, cutoff: 600, binomialTail: 1e-4, passed: true },
      rows: literal,
      columns: literal,
      hRows: 0.9,
      hColumns: 0.8,
      validationPassed: true,
      minEntropyPerSymbol: 0.75,
    };
    const text = textOf(restartReport(assessment).text);
    assert.match(text, /^6\.3\.10 +LZ78Y +\d\.\d{6} +\d\.\d{6}$/m);
    assert.match(text, /^Sanity check +passed/m);
    assert.match(text, /^Validation +passed/m);
    assert.match(text, /^Assessed +0\.750000 +min\(H_r, H_c, H_I\)$/m);
    const failed = { ...assessment, validationPassed: false, minEntropyPerSymbol: 0 };
    assert.match(textOf(restartReport(failed).text), /^Validation +FAILED/m);
  });

  it('names the offset of a sample that is too wide and the fix, but not the sample', async () => {
    const file = write('wide.bin', Uint8Array.of(1, 2, 3, 207, 0));
    const { code, stdout, stderr } = await phm(file, '--bits-per-symbol', '2');
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /wide\.bin: the sample at offset 3 has more than 2 bits; raise --bits/);
    assert.doesNotMatch(stderr, /\b207\b/);
  });

  it('rejects unusable inputs with a message', async () => {
    const short = write('short.bin', aesBytes().subarray(0, 100));
    const empty = write('empty.bin', new Uint8Array(0));
    const equal = write('equal.bin', new Uint8Array(1_000));
    const matrix = write('bytes-matrix.bin', aesBytes());
    const bits = write('bits.bin', aesBytes().subarray(0, 125_000));
    const narrow = write(
      'narrow.bin',
      aesBytes().map((byte) => byte & 127),
    );
    const failures: [string[], number, RegExp][] = [
      [[path('none.bin')], 2, /none\.bin cannot be read: there is no such file/],
      [[empty], 1, /empty\.bin contains fewer than 2 samples/],
      [[short, '--restart', '--initial-entropy', '1'], 1, /contains 100 samples; --restart needs/],
      [[matrix, '--restart'], 2, /--restart and --initial-entropy need each other/],
      [[matrix, '--initial-entropy', '7'], 2, /--restart and --initial-entropy need each other/],
      [[matrix, '--restart', '--initial-entropy', '8.5'], 2, /above 0 and at most 8/],
      [[matrix, '--bits-per-symbol', '9'], 2, /from 1 to 8/],
      [[short, '--iid'], 1, /contains 100 samples; --iid needs at least 1,000/],
      [[equal, '--iid'], 1, /all samples are equal; there is no entropy to test/],
      [[matrix, '--seed', '1'], 2, /--seed needs --iid/],
      [[matrix, '--iid', '--seed', 'xyz'], 2, /1 to 32 hexadecimal digits/],
      [[matrix, '--packed', '--bits-per-symbol', '2'], 2, /--packed samples have 1 bit/],
      [[matrix, '--subset', '5'], 2, /use INDEX,SAMPLES/],
      [[matrix, '--threads', '2'], 2, /--threads needs --iid/],
      [[matrix, '--fail'], 2, /--fail needs --iid or --restart/],
      [[bits, '--packed', '--truncate'], 2, /--truncate shortens the bit string, which is not/],
      [[bits, '--packed', '--submitter-entropy', '3'], 2, /use at most 1, the bits of a symbol/],
      [
        [short, '--subset', '9,100'],
        1,
        /contains 0 of the 100 samples of --subset 9,100: it has 100 samples in all; name/,
      ],
      [[short, '--subset', '1,60'], 1, /contains 40 of the 60 samples of --subset 1,60/],
      [
        [bits, '--packed', '--restart', '--initial-entropy', '5'],
        2,
        /use at most 1, the bits of a/,
      ],
      [
        [narrow, '--restart', '--initial-entropy', '7.5'],
        2,
        /use at most 7, the bits of the greatest sample, or give .* as --bits-per-symbol; got 7\.5/,
      ],
      [
        [narrow, '--submitter-entropy', '7.5'],
        2,
        /--submitter-entropy is .* use at most 7, the bits of the greatest sample, or give .*--bits-p/,
      ],
      [
        [narrow, '--submitter-entropy', '7.5', '--bits-per-symbol', '7'],
        2,
        /use at most 7, the bits of a symbol; got 7\.5/,
      ],
      [[short, '--bits-per-symbol', '1'], 1, /has more than 1 bit; raise --bits-per-symbol/],
      [
        [matrix, '--restart', '--initial-entropy', '0.8', '--submitter-entropy', '0.3'],
        2,
        /--initial-entropy is H_I, at most --submitter-entropy, 0\.3 \(SP 800-90B §3\.1\.3\); got 0\.8/,
      ],
    ];
    const results = await Promise.all(failures.map(([args]) => phm(...args)));
    for (const [i, { code, stdout, stderr }] of results.entries()) {
      const [args, expected, words] = failures[i];
      assert.deepEqual([code, stdout], [expected, ''], args.join(' '));
      assert.match(stderr, words);
    }
  });

  it('rejects more samples than fit in memory', async () => {
    const file = write('some.bin', new Uint8Array(2));
    const { code, stderr } = await phm(file, '--subset', '0,134217729');
    assert.equal(code, 1);
    assert.match(stderr, /contains more than 134,217,728 samples; assess a part with --subset/);
  });

  it('takes a subset, by its index and length, and packed bits', async () => {
    const stream = aesBytes();
    const part = stream.subarray(3 * 4_100, 4 * 4_100);
    const figures = async (...args: string[]): Promise<unknown> => {
      const { report, input, options, ...rest } = JSON.parse((await phm(...args, '--json')).stdout);
      return { ...rest, sha256: input.sha256 };
    };
    const file = write('stream.bin', stream);
    const alone = await figures(write('part.bin', part));
    assert.deepEqual(await figures(file, '--subset', '3,4100'), alone);
    // Bits 4,101 to 8,201: both ends are inside a byte.
    const bits = aesBits().subarray(4_101, 2 * 4_101);
    const packed = await figures(file, '--packed', '--subset', '1,4101');
    assert.deepEqual(packed, await figures(write('part.bin', bits)));
  });

  it('writes a page with every figure, the input and its digest, and loads nothing', async () => {
    const samples = aesBits().subarray(0, 1_000);
    const file = write('<page>.bin', samples);
    const page = path('page.html');
    const args = ['--iid', '--seed', '1', '--threads', '1', '--html', page];
    const texts = ['--laboratory', 'Lab <1>', '--device', 'D & Co'];
    const { code, stdout } = await phm(file, ...args, ...texts);
    assert.equal(code, 0);
    const html = readFileSync(page, 'utf8');
    const sha256 = createHash('sha256').update(samples).digest('hex');
    for (const text of [stdout, html]) assert.ok(text.includes(sha256));
    assert.match(
      html,
      /<title>Report [0-9a-f]{12}-[0-9a-f]{8}: SP 800-90B report on .*&lt;page&gt;\.bin<\/title>/,
    );
    assert.match(html, /default-src &#39;none&#39;/);
    const [line] = stdout.match(/^5\.1\.11 compression +\d+/m) ?? [];
    const [, length] = /(\d+)$/.exec(line ?? '') ?? [];
    assert.ok(html.includes(`<th scope="row">5.1.11 compression</th><td>${length}</td>`));
    assert.doesNotMatch(html, /\ufffd/);
    assert.match(html, /<dt>Device under test<\/dt><dd>D &amp; Co<\/dd>/);
    assert.match(html, /<b>Warning<\/b>: 1,000 samples; SP 800-90B section 3\.1\.1 requires/);
    assert.match(html, /<dt>Laboratory<\/dt><dd>Lab &lt;1&gt;<\/dd>/);
    assert.match(html, /@top-left\{content:"Lab \\3c 1\\3e "\}/);
    assert.match(html, /<dt>Created<\/dt><dd>2023-11-14T22:13:20Z<\/dd>/);
    const [, id] = /<dt>Report<\/dt><dd>([0-9a-f-]{21})<\/dd>/.exec(html) ?? [];
    assert.ok(html.includes(`End of report ${id}</p>`));
    assert.match(stdout, new RegExp(`^Report +${id}$`, 'm'));
    const refused = await phm(file, '--html', file);
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
  });

  it("ends with the designer's claim, H_I and what is left to do", async () => {
    const file = write('claim.bin', aesBits().subarray(0, 5_000));
    const high = await phm(file, '--submitter-entropy', '0.99');
    assert.match(high.stdout, /\nH_submitter 0\.990000 -> H_I (0\.\d{6}) -> .* 0\.\d{6}\n$/);
    const low = await phm(file, '--submitter-entropy', '0.01', '--json');
    const { h_submitter, h_initial, assessed } = JSON.parse(low.stdout);
    assert.deepEqual([h_submitter, h_initial, assessed], [0.01, 0.01, null]);
    const without = await phm(file);
    assert.match(without.stdout, /\nH_submitter not given -> H_I 0\.\d{6} -> assessed after the/);
  });

  it("computes h' of conditioned output from its bits, on both tracks", async () => {
    const samples = aesBytes().subarray(0, 2_000);
    const file = write('conditioned.bin', samples);
    const report = JSON.parse((await phm(file, '--conditioned', '--json')).stdout);
    const { hBitstring } = assessNonIid(samples, { bitsPerSymbol: 8 });
    assert.equal(report.h_prime, hBitstring);
    const args = ['--iid', '--seed', '1', '--threads', '1'];
    const bits = write('conditioned-bits.bin', aesBits().subarray(0, 1_000));
    const iid = await phm(bits, '--conditioned', ...args);
    assert.match(iid.stdout, /^h' +0\.\d{6} bits per bit/m);
  });

  it("exits with code 1 with --fail if a test of the IID track fails, and then computes no h'", async () => {
    // A long repeat fails its own test alone, so that the permutations end early.
    const sound = aesBits().slice(0, 1_000);
    const repeating = write('repeating.bin', Uint8Array.from(sound).copyWithin(500, 100, 160));
    const args = ['--iid', '--seed', '1', '--threads', '1', '--conditioned'];
    const failed = await phm(repeating, ...args, '--fail');
    assert.equal(failed.code, 1);
    assert.match(failed.stdout, /FAILED/);
    assert.match(failed.stdout, /^h' +nothing: use the non-IID track/m);
    const { code, stdout } = await phm(repeating, ...args, '--json');
    assert.deepEqual([code, JSON.parse(stdout).h_prime], [0, null]);
    assert.equal((await phm(write('sound.bin', sound), ...args, '--fail')).code, 0);
  });

  it('assesses nothing of restarts if an IID test failed', () => {
    const claim = { hSubmitter: null, hInitial: 0.5, assessed: null };
    assert.match(claimText(claim), /H_I 0\.500000 -> nothing assessed, because a test failed$/);
    const unawarded = claimText({ ...claim, assessed: 0 });
    assert.match(unawarded, /H_I 0\.500000 -> no entropy awarded, because a check failed$/);
    assert.equal(claimJson(claim).assessed, null);
  });

  it('can be traced to its input, options and program', async () => {
    const bytes = aesBytes().subarray(0, 4_000);
    const file = write('traced.bin', bytes);
    const digest = (part: Uint8Array): string => createHash('sha256').update(part).digest('hex');
    const args = [file, '--subset', '1,1500', '--truncate', '--bits-per-symbol', '8'];
    const { stdout } = await phm(...args, '--operator', 'A. B.');
    for (const line of [
      /^Operator +A\. B\.$/m,
      /^Size +4000 bytes$/m,
      /^Bytes read +3000$/m,
      new RegExp(`^SHA-256 of the bytes read +${digest(bytes.subarray(0, 3_000))}$`, 'm'),
      new RegExp(`^SHA-256 of the samples +${digest(bytes.subarray(1_500, 3_000))}$`, 'm'),
      /^Subset +part 1, counted from 0, of 1,500 samples$/m,
      /^Assessed part +1,500 of 4,000 samples: 1,500 to 2,999, counted from 0$/m,
      /^Not assessed +the first 1,500 samples; the last 1,000 samples$/m,
      /^Input +traced\.bin$/m,
      /^Other options +--truncate$/m,
      /^Bits per symbol +8$/m,
      new RegExp(`^Program +${SOFTWARE.program}, ${SOFTWARE.build.replace('+', '\\+')}$`, 'm'),
      /^Created +2023-11-14T22:13:20Z$/m,
    ]) {
      assert.match(stdout, line);
    }
    const report = JSON.parse((await phm(...args, '--operator', 'A. B.', '--json')).stdout);
    const { input, options, software, created } = report;
    assert.equal(report.report.operator, 'A. B.');
    assert.match(stdout, new RegExp(`^Report +${report.report.id}$`, 'm'));
    assert.deepEqual([input.size, input.bytes, input.samples], [4_000, 3_000, 1_500]);
    assert.deepEqual([options.truncate, options.bits_per_symbol, options.seed], [true, 8, null]);
    assert.deepEqual([software, created], [{ build: SOFTWARE.build }, '2023-11-14T22:13:20Z']);
    const other = JSON.parse((await phm(...args.slice(0, 3), '--json')).stdout);
    assert.notEqual(other.report.id, report.report.id);
  });

  it('warns if there are too few samples for the chi-square test of independence', async () => {
    const file = write('few.bin', aesBytes().subarray(0, 2_000));
    const args = ['--iid', '--seed', '1', '--threads', '1'];
    const { stderr } = await phm(file, ...args);
    assert.match(
      stderr,
      /of independence, whose verdict says little .* values 0\.015 times on average/,
    );
    assert.match(stderr, /256 values need 655,360 samples/);
    const bits = write('few-bits.bin', aesBits().subarray(0, 1_000));
    assert.doesNotMatch((await phm(bits, ...args)).stderr, /chi-square/);
  });

  it('refuses digits, and warns of them if they are read as samples', async () => {
    const text = write('text.bin', Buffer.from([...aesBits().subarray(0, 2_000)].join('')));
    const refused = await phm(text);
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(
      refused.stderr,
      /text\.bin looks like digits 0 and 1\. No verdict: use --format ascii/,
    );
    const read = ['--format', 'binary'];
    const { code, stderr } = await phm(text, ...read);
    assert.equal(code, 0);
    assert.match(stderr, /^warning: .*looks like digits 0 and 1\. Each byte is read as a sample/m);
    const packed = await phm(text, '--packed', ...read);
    assert.match(packed.stderr, /digits 0 and 1\. Each bit of it is read/);
    const short = write('short-text.bin', Buffer.from('01101001110001011010'));
    assert.match((await phm(short, ...read)).stderr, /^warning: .*looks like digits 0 and 1/m);
  });

  it('runs the IID track, and repeats it for a seed', async () => {
    const file = write('iid.bin', aesBits().subarray(0, 1_000));
    const args = ['--iid', '--seed', 'ABC', '--threads', '1'];
    const { code, stdout } = await phm(file, ...args);
    assert.equal(code, 0);
    assert.match(stdout, /^5\.2\.5 +longest repeated substring +\d+ +- +\d\.\d+ +passed$/m);
    assert.match(stdout, /^\d+ permutations made, of at most 10,000, seed abc$/m);
    assert.equal((await phm(file, ...args)).stdout, stdout);
    const report = JSON.parse((await phm(file, ...args, '--json')).stdout);
    assert.equal(report.iid_tests.permutation.seed, 'abc');
    assert.equal(Object.keys(report.iid_tests.permutation.statistics).length, 19);
  });
});
