/** Why a key is not valid, in one sentence that shows nothing of the key. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { validationReason } from '../../../src/http/wire/validation-reason.ts';
import type { ValidationVerdict } from '../../../src/keys/index.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const MALFORMED: ValidationVerdict = {
  valid: false,
  keyFormat: 'invalid',
  entropyCheck: 'skipped',
  proofVerification: 'skipped',
  retiredSecret: null,
  keyStatus: null,
};
const GOOD = { keyFormat: 'valid', entropyCheck: 'passed', proofVerification: 'passed' } as const;

describe('the reason of a verdict', () => {
  it('says how to send a key that is only in another form', () => {
    for (const [text, reason] of [
      [KEY.toUpperCase(), /^The key is not in the form .*: send it in lower case\.$/],
      [`${KEY}\n`, /send it without white space around it\.$/],
      [` ${KEY}`, /send it without white space around it\.$/],
      [`0x${KEY}`, /send it without "0x"\.$/],
      [
        ` 0X${KEY.toUpperCase()}`,
        /without white space around it and without "0x" and in lower case/,
      ],
      ['phm_2170429376983703449351416931714616409', /^This is a key_id, not a key\./],
      [KEY.slice(1), /^A key has 32, 64 or 96 hexadecimal digits; this has 31\.$/],
      [`${KEY.slice(1)}g`, /this has other characters\.$/],
      ['', /^The key is empty\.$/],
    ] as const) {
      const given = validationReason(MALFORMED, text) ?? '';
      assert.match(given, reason);
      assert.ok(!given.includes(KEY.slice(1, 9)), given);
    }
  });

  it('names the check that a well-formed key fails, and is absent for a valid one', () => {
    const of = (changes: Partial<ValidationVerdict>) =>
      validationReason({ ...MALFORMED, ...GOOD, ...changes }, KEY);
    assert.equal(of({ valid: true }), undefined);
    const reasons = [
      of({ entropyCheck: 'failed' }),
      of({ proofVerification: 'failed' }),
      of({ proofVerification: 'unconfirmed', retiredSecret: 'no_record' }),
      of({ keyStatus: 'deactivated' }),
      of({ keyStatus: 'compromised' }),
    ];
    assert.equal(new Set(reasons).size, reasons.length);
    for (const reason of reasons) assert.match(reason ?? '', /^T.*\.$/);
  });
});
