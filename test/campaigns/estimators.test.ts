/**
 * All figures of NIST's ea_non_iid for 1,000,000 samples of 8 bits, on symbols and on bits. Also the restart tests of
 * sources that pass the sanity check, which take seconds each: with two H_I, and by the command line, whose parts are
 * in packages/lab/test/slow/entropy.test.ts.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { assessNonIid, assessRestarts, type Outcome } from '#sp800-90b';
import { aesBits, aesBytes, assertFigures, REFERENCES } from '../sp800-90b/ea-non-iid.ts';
import { phmJson, runPhm } from '../support/servers/server.ts';

test("agrees with NIST's program on 1,000,000 bytes of AES-256-CTR", () => {
  const reference = REFERENCES.bytes;
  const ours = assessNonIid(aesBytes(), { bitsPerSymbol: 8 });
  let estimates = 0;
  for (const input of ['literal', 'bitstring'] as const) {
    for (const [name, figures] of Object.entries(reference[input] ?? {})) {
      const outcomes: Record<string, Outcome> = { ...ours[input] };
      assertFigures(outcomes[name], figures, `${input} ${name}`);
      estimates++;
    }
  }
  assert.equal(estimates, 17);
  const { hOriginal, hBitstring, minEntropyPerSymbol } = reference;
  assertFigures(
    ours,
    { hOriginal, hBitstring: hBitstring ?? 0, minEntropyPerSymbol },
    'assessment',
  );
});

test('assessRestarts awards min(H_r, H_c, H_I) if both checks pass (§3.1.4.2)', () => {
  const { minEntropyPerSymbol, literal } = REFERENCES.bits;
  const initialMinEntropy = 0.75;
  const ours = assessRestarts(aesBits(), { bitsPerSymbol: 1, initialMinEntropy });
  assertFigures(ours.rows.lag, literal.lag, 'lag');
  assert.ok(Math.abs(ours.hRows - minEntropyPerSymbol) < 1e-11);
  assert.deepEqual([ours.sanityCheck.passed, ours.validationPassed], [true, true]);
  assert.equal(ours.minEntropyPerSymbol, Math.min(ours.hRows, ours.hColumns, 0.75));
});

test('assessRestarts compares the smaller of H_r and H_c with half of H_I', () => {
  const ours = assessRestarts(aesBits(), { bitsPerSymbol: 2, initialMinEntropy: 2 });
  assert.ok(Math.min(ours.hRows, ours.hColumns) < 1);
  assert.deepEqual([ours.validationPassed, ours.minEntropyPerSymbol], [false, 0]);
});

test('phm assess-entropy runs the restart tests, for people and as JSON', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'phm-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'matrix.bin');
  writeFileSync(file, aesBits());
  const args = ['assess-entropy', file, '--restart', '--initial-entropy', '0.75'];
  const { code, stdout, stderr } = await runPhm(args, folder);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^Sanity check +passed/m);
  assert.match(stdout, /^Validation +passed/m);
  assert.match(stdout, /^Assessed +0\.750000 +min\(H_r, H_c, H_I\)$/m);
  const report = await phmJson(args, folder);
  assert.equal(report.min_entropy_per_symbol, 0.75);
  assert.equal(report.validation_passed, true);
});
