/** What `phm assess-entropy` says of samples that tell little. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { claimText } from '../../src/cli/assess/entropy-claim.ts';
import { fewPairsWarning } from '../../src/cli/assess/iid-report.ts';
import { aesBits } from '../sp800-90b/ea-non-iid.ts';
import { runCommand } from '../support/run-command.ts';
import { makeDataDir, removeDataDir } from '../support/server.ts';

let folder: string;
before(() => {
  folder = makeDataDir();
});
after(() => removeDataDir(folder));

function write(name: string, content: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const phm = (...args: string[]) =>
  runCommand(['assess-entropy', ...args], { SOURCE_DATE_EPOCH: '1700000000' });

describe('phm assess-entropy', () => {
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
      assert.match(text, / -> no entropy to assess\n$/);
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

  it('counts the values of many samples at once', () => {
    const samples = new Uint8Array(20_000_000);
    samples.set([1, 2, 255]);
    const start = performance.now();
    assert.equal(fewPairsWarning(samples), null);
    const loop = performance.now() - start;
    assert.equal(new Set(samples).size, 4);
    const set = performance.now() - start - loop;
    assert.ok(loop < set / 3, `${loop} ms, and ${set} ms for a set`);
    const few = fewPairsWarning(samples.subarray(0, 100));
    assert.match(few ?? '', /values 3\.1 times on average, .* 4 values need 160 samples$/m);
  });
});
