/** What `phm-lab assess-entropy` says of samples that tell little: warnings, tests that cannot fail, and no entropy. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { aesBits, aesBytes } from '../../../../test/sp800-90b/ea-non-iid.ts';
import { claimText } from '../../src/entropy/claim.ts';
import { fewPairsWarning } from '../../src/entropy/warnings.ts';
import { entropyFiles } from '../support/entropy-files.ts';

const { path, write, phm } = entropyFiles();

describe('phm-lab assess-entropy', () => {
  it('recommends an --initial-entropy that it accepts', async () => {
    const recommended = (hInitial: number): string =>
      claimText({ hSubmitter: null, hInitial }).trim().split(' ').at(-1) ?? '';
    for (const [hInitial, text] of [
      [0.3333336, '0.333333'],
      [7.168213, '7.168213'],
      [1, '1.000000'],
      [0.9999999, '0.999999'],
      [0.0000016, '0.000001'],
    ] as const) {
      assert.equal(recommended(hInitial), text);
    }
    for (const hInitial of [0, 0.0000009]) {
      const text = claimText({ hSubmitter: null, hInitial });
      assert.match(text, / -> no entropy to assess$/);
    }
    const stuck = await phm(write('stuck.bin', new Uint8Array(5_000)));
    assert.match(
      stuck.stdout,
      /\nH_submitter not given -> H_I 0\.000000 -> no entropy to assess\n$/,
    );
    const file = write('claim.bin', aesBits().subarray(0, 5_000));
    const claim = ['--submitter-entropy', '0.3333336'];
    const [, given = ''] = / (\S+)\n$/.exec((await phm(file, ...claim)).stdout) ?? [];
    // The claim does not refuse it; the file is no matrix.
    const { stderr } = await phm(file, ...claim, '--restart', '--initial-entropy', given);
    assert.match(stderr, /--restart needs exactly 1,000,000/);
  });

  it('has its warnings in the text, before the trace, and in the JSON', async () => {
    const file = write('few-iid.bin', aesBytes().subarray(0, 2_000));
    const args = ['--iid', '--seed', '1', '--threads', '1'];
    const { stdout, stderr } = await phm(file, ...args);
    const { warnings } = JSON.parse((await phm(file, ...args, '--json')).stdout);
    assert.equal(warnings.length, 2);
    assert.match(warnings[0], /^2,000 samples; SP 800-90B section 3\.1\.1 .* less certain\.$/);
    assert.match(
      warnings[1],
      /^2,000 samples are too few for the chi-square .* 655,360 samples\.$/,
    );
    const lines = warnings.map((warning: string) => `\nWarning: ${warning}\n`).join('');
    assert.ok(stdout.includes(`${lines}\nReport  `));
    assert.equal(
      stderr,
      warnings.map((text: string) => `warning: ${text.slice(0, -1)}\n`).join(''),
    );
  });

  it('says that a chi-square test without degrees of freedom cannot fail', async () => {
    const file = write('no-degrees.bin', aesBytes().subarray(0, 2_000));
    const args = [file, '--iid', '--seed', '1', '--threads', '1'];
    const page = path('no-degrees.html');
    const { stdout } = await phm(...args, '--html', page);
    assert.match(
      stdout,
      /^5\.2 +chi-square, independence +\S+ +-\d+ +1\.00000 +passed, no degrees of freedom$/m,
    );
    assert.match(stdout, /^5\.2 +chi-square, goodness of fit .* passed$/m);
    assert.match(stdout, /^IID tests +passed, 1 of 22 without degrees of freedom$/m);
    const html = readFileSync(page, 'utf8');
    assert.ok(html.includes('<td>passed, no degrees of freedom</td>'));
    assert.match(html, /IID tests passed, 1 of 22 without degrees of freedom\. Initial entropy/);
    const { iid_tests: tests } = JSON.parse((await phm(...args, '--json')).stdout);
    const { passed, can_fail } = tests.chi_square_independence;
    assert.deepEqual([passed, can_fail], [true, false]);
    assert.equal(tests.chi_square_goodness_of_fit.can_fail, true);
  });

  it('counts the values of the samples', () => {
    const samples = new Uint8Array(160);
    samples.set([1, 2, 255]);
    assert.equal(fewPairsWarning(samples), null);
    const few = fewPairsWarning(samples.subarray(0, 100));
    assert.match(few ?? '', /values 3\.1 times on average, .* 4 values need 160 samples$/m);
  });
});
