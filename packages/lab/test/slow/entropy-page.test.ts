/** The page of `phm-lab assess-entropy --html`, and the words that its text shares: what each figure is, and what it is not. */

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { aesBits, aesBytes } from '../../../../test/sp800-90b/ea-non-iid.ts';
import {
  assessConditioned,
  assessNonIid,
  type IidAssessment,
  type IidRestartAssessment,
  type IidTests,
  PERMUTATIONS,
  type RestartAssessment,
  STATISTIC_NAMES,
} from '../../../sp800-90b/src/index.ts';
import type { EntropyClaim } from '../../src/entropy/claim.ts';
import { bitstringPart, coverageRows } from '../../src/entropy/coverage.ts';
import { iidReport, iidRestartReport } from '../../src/entropy/iid.ts';
import type { EntropyPageParts } from '../../src/entropy/model.ts';
import { conditionedReport } from '../../src/entropy/non-iid.ts';
import { formatEntropyPage } from '../../src/entropy/page.ts';
import { restartReport } from '../../src/entropy/restarts.ts';
import { entropyTrace } from '../../src/entropy/trace.ts';
import { makeFolder, removeFolder, runCommand, runCommandOn } from '../support/run-command.ts';

let folder: string;
before(() => {
  folder = makeFolder();
});
after(() => removeFolder(folder));

const NOT_FINAL =
  'Not a final assessment: the restart tests (SP 800-90B §3.1.4) are not part of this report.';

/** Writes the samples, assesses them, and returns the page and the text. */
async function assess(
  samples: Uint8Array,
  ...options: string[]
): Promise<{ html: string; stdout: string }> {
  const file = join(folder, 'samples.bin');
  const page = join(folder, 'page.html');
  writeFileSync(file, samples);
  const args = ['assess-entropy', file, '--html', page, ...options];
  const { code, stdout, stderr } = await runCommand(args);
  assert.equal(code, 0, stderr);
  return { html: readFileSync(page, 'utf8'), stdout };
}

const INPUT = {
  name: 'matrix.bin',
  size: 1_000_000,
  bytes: 1_000_000,
  bytes_sha256: '0'.repeat(64),
  format: 'binary',
  samples: 1_000_000,
  sha256: '0'.repeat(64),
  subset: null,
  packed: false,
  program: 'phm',
};

function pageOf(page: EntropyPageParts, claim: EntropyClaim | null): string {
  const run = { report: {}, input: INPUT, flags: {}, build: 'build', created: 'now' };
  return formatEntropyPage(entropyTrace(run), { page, claim }, []);
}

function headlineOf(html: string): string {
  return /<span class="sign"[^>]*>.<\/span>(.*?)<\/h2>/.exec(html)?.[1] ?? '';
}

const COUNTS = { statistic: 1, greater: 6, equal: 0, less: 6, passed: true };

/** Tests that ended after `permutations` permutations. */
function iidTests(permutations: number, passed = true): IidTests {
  const chiSquare = { statistic: 1, degreesOfFreedom: 9, pValue: 0.5, passed: true };
  const statistics = Object.fromEntries(STATISTIC_NAMES.map((name) => [name, COUNTS]));
  return {
    mean: 0.5,
    median: 0.5,
    independence: chiSquare,
    goodnessOfFit: chiSquare,
    longestRepeat: { pCollision: 0.5, length: 38, probability: 0.5, passed: true },
    permutation: {
      seed: '5',
      permutations,
      statistics: statistics as IidTests['permutation']['statistics'],
      passed,
    },
    passed,
  };
}

const MOST_COMMON = {
  applicable: true,
  modeCount: 4_068,
  pHat: 0.004068,
  pUpper: 0.004246,
  minEntropy: 7.879947,
} as const;

const IID: IidAssessment = {
  samples: 1_000_000,
  bitsPerSymbol: 8,
  alphabetSize: 256,
  literal: MOST_COMMON,
  bitstring: { ...MOST_COMMON, modeCount: 4_001_234, pHat: 0.50015, minEntropy: 0.998558 },
  bitstringBits: 8_000_000,
  hOriginal: 7.879947,
  hBitstring: 0.998558,
  minEntropyPerSymbol: 7.879947,
  tested: 'samples',
  tests: iidTests(59),
};

const AWARD = {
  bitsPerSymbol: 1,
  alphabetSize: 2,
  initialMinEntropy: 0.75,
  sanityCheck: { maxCount: 560, cutoff: 600, binomialTail: 1e-4, passed: true },
  hRows: 0.9,
  hColumns: 0.8,
  validationPassed: true,
};

const IID_RESTARTS: IidRestartAssessment = {
  ...AWARD,
  rows: MOST_COMMON,
  columns: MOST_COMMON,
  rowTests: iidTests(190),
  columnTests: iidTests(412),
  isIid: true,
  minEntropyPerSymbol: 0.75,
};

describe('the page of phm-lab assess-entropy', () => {
  it('calls the estimate initial, gives its formula, and says that restart tests are missing', async () => {
    const { html, stdout } = await assess(aesBytes().subarray(0, 6_000));
    const [, estimate, perBit] =
      /^Estimate +(\S+) bits per symbol, (\S+) bits per bit$/m.exec(stdout) ?? [];
    assert.equal(headlineOf(html), `Initial entropy estimate H_I = ${estimate} bits per symbol`);
    const [, formula] = /<p>(H_I = min\([^<]*)<\/p>/.exec(html) ?? [];
    assert.match(
      formula ?? '',
      /^H_I = min\(H_original \d\.\d{6}, 8 × H_bitstring \d\.\d{6}\) = (\S+) bits per symbol \(§3\.1\.3\)\.$/,
    );
    assert.ok(formula?.includes(`) = ${estimate} bits`));
    assert.ok(html.includes(NOT_FINAL));
    assert.ok(html.includes(`<dd>${perBit}</dd>`), 'the figure per bit of the text');
    assert.match(html, /the designer&#39;s claim, was not given/);
    assert.doesNotMatch(html, /Assessed: |-> H_I|this page/);
  });

  it('counts H_submitter in, and leaves out a bit string that does not exist', async () => {
    const bits = aesBits().subarray(0, 5_000);
    const alone = await assess(bits);
    assert.match(alone.html, /<p>H_I = H_original = 0\.\d{6} bits per symbol/);
    const { html } = await assess(bits, '--submitter-entropy', '0.01');
    assert.equal(headlineOf(html), 'Initial entropy estimate H_I = 0.010000 bits per symbol');
    assert.match(html, /H_I = min\(H_original 0\.\d{6}, H_submitter 0\.010000\) = 0\.010000 bits/);
    assert.doesNotMatch(html, /H_bitstring|was not given/);
  });

  it('gives units, explains "-" and digits, and names the edition of the standard', async () => {
    const { html } = await assess(aesBytes().subarray(0, 3_000));
    for (const unit of ['samples: bits per symbol', 'bit string: bits per bit']) {
      assert.ok(html.includes(`<th scope="col">${unit}</th>`));
    }
    assert.match(html, /<dt>H_original, bits per symbol<\/dt>/);
    assert.match(
      html,
      /“-” means no figure: collision, Markov, compression \(for binary input only\)/,
    );
    assert.match(html, /multi most common in window \(needs/);
    assert.match(html, /The digits are for comparison with other programs, not a measure of accur/);
    assert.match(html, /<dt>Method<\/dt><dd>NIST SP 800-90B \(January 2018\), Non-IID track</);
  });

  it('gives the decision rule of the IID tests, with the permutations that were needed', () => {
    const html = pageOf(iidReport(IID).page, {
      hSubmitter: 7.9,
      hInitial: 7.879947,
    });
    assert.equal(
      headlineOf(html),
      'IID tests passed. Initial entropy estimate H_I = 7.879947 bits per symbol',
    );
    assert.ok(
      html.includes(
        'H_I = min(H_original 7.879947, 8 × H_bitstring 7.988464, H_submitter 7.900000) = 7.879947',
      ),
    );
    assert.ok(html.includes(NOT_FINAL));
    const [, rule = ''] = /<h2>Decision rule<\/h2>(.*?)<\/section>/.exec(html) ?? [];
    for (const words of [
      'fail if the p-value is below 0.001.',
      'fails if C0 + C1 or C1 + C2 is at most 5 of 10,000 permutations.',
      'at most after 10,000 permutations: here after 59. More would not change a verdict.',
      '3 tests have the nominal rate 0.001, and 19 statistics at most 12 of 10,001.',
      'The 22 tests',
      // 3 · 0.001 + 19 · 12 / 10,001
      'at most about 2.6 % of IID sources fail, if the nominal rates hold.',
    ]) {
      assert.ok(rule.includes(words), words);
    }
    assert.match(html, /<dt>permutations made, of at most 10,000<\/dt><dd>59<\/dd>/);
    assert.match(html, /degrees of freedom<\/th>/);
    assert.match(html, /C0: greater<\/th><th scope="col">C1: equal<\/th>/);
    const samples = 'samples</th><td>4,068</td><td>1,000,000</td><td>0.004068000</td>';
    assert.ok(html.includes(samples));
    assert.match(html, /bit string<\/th><td>4,001,234<.*0\.998558 bits per bit<\/td>/);
  });

  it('gives no H_I after a failed IID test', () => {
    const failed = { ...IID, minEntropyPerSymbol: null, tests: iidTests(PERMUTATIONS, false) };
    const claim = { hSubmitter: null, hInitial: null };
    const html = pageOf(iidReport(failed).page, claim);
    assert.equal(headlineOf(html), 'IID tests FAILED: no estimate on this track');
    assert.match(html, /The non-IID track applies to this source/);
    assert.match(html, /here after 10,000\./);
    assert.doesNotMatch(html, /H_I = |not part of this report|More would not/);
  });

  it("says that h' is not the entropy of the output", () => {
    const result = assessConditioned(aesBytes().subarray(0, 1_000), { bitstringLimit: 5_000 });
    const html = pageOf(conditionedReport(result).page, null);
    assert.match(
      headlineOf(html),
      /^Entropy of conditioned output h&#39; = 0\.\d{6} bits per bit$/,
    );
    assert.match(html, /h_out is not part of this report/);
    assert.match(html, /<dd>the first 5,000 of 8,000 bits of 1,000,000 samples<\/dd>/);
  });

  it('gives the assessed entropy of restarts, and says where H_I comes from', () => {
    const { literal } = assessNonIid(aesBits().subarray(0, 10_000), { bitsPerSymbol: 1 });
    const passed: RestartAssessment = {
      ...AWARD,
      rows: literal,
      columns: literal,
      minEntropyPerSymbol: 0.75,
    };
    const claim = { hSubmitter: null, hInitial: 0.75, assessed: 0.75 };
    const html = pageOf(restartReport(passed).page, claim);
    assert.equal(
      headlineOf(html),
      'Restart tests passed. Assessed entropy: 0.750000 bits per symbol',
    );
    assert.match(html, /is as given by the operator \(--initial-entropy\), not computed here/);
    assert.match(html, /= min\(H_r 0\.900000, H_c 0\.800000, H_I 0\.750000\) = 0\.750000/);
    assert.match(html, /<td>560<\/td><td>at most 600<\/td><td>passed<\/td>/);
    assert.match(html, /fails if a value occurs more than 600 times in one of the 1,000 rows/);
    assert.match(html, /at most about 1 % fail the sanity check/);
    assert.match(html, /The standard names no rate of failures by chance/);
    assert.doesNotMatch(html, /Not a final assessment/);
    const failed = { ...passed, validationPassed: false, minEntropyPerSymbol: 0 };
    const unawarded = pageOf(restartReport(failed).page, { ...claim, assessed: 0 });
    assert.equal(headlineOf(unawarded), 'Restart tests FAILED: no entropy awarded');
    assert.doesNotMatch(unawarded, /Assessed entropy = /);
  });

  it('counts the IID tests of rows and columns', () => {
    const html = pageOf(iidRestartReport(IID_RESTARTS).page, null);
    assert.match(headlineOf(html), /^Restart tests and IID tests passed\. Assessed entropy: 0\.75/);
    assert.match(html, /here after 190 for the rows and 412 for the columns\./);
    assert.match(html, /The 44 tests .* at most about 5\.2 % of IID sources/);
    assert.match(html, /columns<\/th><td>4,068<\/td>/);
    assert.match(html, /<dt>permutations of the rows made, of at most 10,000<\/dt><dd>190<\/dd>/);
    assert.match(html, /<dt>permutations of the columns made, .*?<\/dt><dd>412<\/dd>/);
  });
});

describe('the headline of restarts on the IID track', () => {
  const headline = (changes: Partial<IidRestartAssessment>): string =>
    headlineOf(pageOf(iidRestartReport({ ...IID_RESTARTS, ...changes }).page, null));
  const failed = { isIid: false, minEntropyPerSymbol: null };

  it('names IID tests and restart tests that failed', () => {
    const sanityCheck = { ...AWARD.sanityCheck, maxCount: 700, passed: false };
    assert.equal(headline(failed), 'IID tests FAILED: nothing assessed');
    const both = 'IID tests and restart tests FAILED: nothing assessed';
    assert.equal(headline({ ...failed, sanityCheck }), both);
    assert.equal(headline({ ...failed, validationPassed: false }), both);
    const unawarded = headline({ sanityCheck, minEntropyPerSymbol: 0 });
    assert.equal(unawarded, 'Restart tests FAILED: no entropy awarded');
  });

  it('counts tests that cannot fail', () => {
    const rowTests = iidTests(190);
    const independence = { statistic: 1, degreesOfFreedom: -57, pValue: 1, passed: true };
    assert.match(
      headline({ rowTests: { ...rowTests, independence } }),
      /^Restart tests and IID tests passed, 1 of 44 without degrees of freedom\. Assessed entropy/,
    );
  });
});

describe('what phm-lab assess-entropy says of samples that it does not assess', () => {
  it('names the parts before and after a subset', async () => {
    const options = ['--packed', '--subset', '1,2000'];
    const { html, stdout } = await assess(aesBytes().subarray(0, 1_000), ...options);
    const [part, rest] = [
      '2,000 of 8,000 samples: 2,000 to 3,999, counted from 0',
      'the first 2,000 samples; the last 4,000 samples',
    ];
    assert.equal(html.split(`<dt>Assessed part</dt><dd>${part}</dd>`).length, 3);
    assert.equal(html.split(`<dt>Not assessed</dt><dd>${rest}</dd>`).length, 3);
    assert.match(stdout, new RegExp(`^Not assessed +${rest}$`, 'm'));
  });

  it('counts the bits that --truncate leaves out', async () => {
    const samples = aesBytes().subarray(0, 125_100);
    const { stdout } = await assess(samples, '--truncate', '--conditioned');
    assert.match(
      stdout,
      /^Assessed part +the first 1,000,000 of 1,000,800 bits of 125,100 samples$/m,
    );
    const rest = 'the last 800 of the 1,000,800 bits of the bit string';
    assert.match(stdout, new RegExp(`^Not assessed +${rest}$`, 'm'));
    const part = bitstringPart({ samples: 125_100, bitsPerSymbol: 8, bitstringBits: 1_000_000 });
    const [, omitted] = coverageRows({ ...INPUT, samples: 125_100, size: 125_100 }, part);
    assert.deepEqual(omitted, ['Not assessed', rest]);
  });

  it('does not guess the length of a pipe, and counts skipped bits', async () => {
    const args = ['assess-entropy', '-', '--subset', '0,2000'];
    const { stdout } = await runCommandOn(aesBytes().subarray(0, 5_000), args);
    assert.match(stdout, /^Input +standard input$/m);
    assert.match(stdout, /^Assessed part +2,000 samples: 0 to 1,999, counted from 0$/m);
    assert.match(stdout, /^Not assessed +what follows, of unknown length$/m);
    const skipping = { ...INPUT, offset_bits: 16, samples: 999_998 };
    const [assessed, omitted] = coverageRows(skipping, null);
    assert.equal(assessed?.[1], '999,998 of 1,000,000 samples: 2 to 999,999, counted from 0');
    assert.equal(omitted?.[1], 'the first 2 samples');
  });
});

describe('the name of the input', () => {
  it('is that of the file in reports, and the typed path in messages', async () => {
    mkdirSync(join(folder, 'sub'));
    const digits = Buffer.from([...aesBits().subarray(0, 2_000)].join(''));
    writeFileSync(join(folder, 'sub/text.bin'), digits);
    const path = join(folder, 'sub/../sub/text.bin');
    const page = join(folder, 'name.html');
    const args = ['assess-entropy', path, '--format', 'binary', '--json', '--html', page];
    const { stdout, stderr } = await runCommand(args);
    assert.equal(JSON.parse(stdout).input.name, 'text.bin');
    assert.ok(stderr.includes(`warning: ${path} looks like digits`));
    const html = readFileSync(page, 'utf8');
    assert.match(html, /<h1><bdi>text\.bin<\/bdi><\/h1>/);
    assert.match(html, /<b>Warning<\/b>: text\.bin looks like digits/);
    assert.ok(!html.includes('sub/'));
  });
});
