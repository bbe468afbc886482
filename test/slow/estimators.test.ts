/** All figures of NIST's ea_non_iid for 1,000,000 samples of 8 bits, on symbols and on bits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assessNonIid, type Outcome } from '#sp800-90b';
import { aesBytes, assertFigures, REFERENCES } from '../sp800-90b/ea-non-iid.ts';

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
