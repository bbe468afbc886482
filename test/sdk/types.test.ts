/** The types of responses follow the form of the request; the compiler checks these lines. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type GeneratedKey,
  type GenerateRequest,
  PhmApiError,
  type PhmClient,
} from '../../sdk/src/index.ts';
import { answers, fails } from '../support/clients/scripted-server.ts';
import {
  ANY_ANSWER,
  GENERATED,
  makes,
  RECEIPTED,
  REPORT,
  rejection,
  VERDICT,
  withClient,
} from './support.ts';

const LEVEL = { security_level: 256 } as const;

const VALIDATED = { ...GENERATED, ...VERDICT, nist_report: REPORT };

const withValidated = (work: (phm: PhmClient) => Promise<void>) =>
  withClient([makes(VALIDATED)], work);

describe('the type of a generated key', () => {
  it('includes the verdict with enable_nist_validation: true', () =>
    withValidated(async (phm) => {
      const answer = await phm.generate({ ...LEVEL, enable_nist_validation: true });
      const passed: number = answer.nist_validation.tests_passed;
      const verdict: [number, 'A' | 'B' | 'C' | 'D' | 'F'] = [answer.nist_score, answer.nist_grade];
      assert.deepEqual([passed, ...verdict], [15, 100, 'A']);
      // @ts-expect-error: the report was not requested.
      assert.deepEqual(answer.nist_report.tests, []);
    }));

  it('includes the report as well with include', () =>
    withValidated(async (phm) => {
      const asked = { ...LEVEL, enable_nist_validation: true } as const;
      for (const { nist_report, nist_score } of [
        await phm.generate({ ...asked, include: ['nist_report'] }),
        await phm.generate({ ...asked, include: ['hash_proof', 'nist_report'] }),
        await phm.generate({ ...asked, include: ['nist_report', 'hash_proof'] } as const),
      ]) {
        assert.deepEqual([nist_report.tests.length, nist_score.toFixed()], [0, '100']);
      }
    }));

  it('includes no verdict without validation', () =>
    withValidated(async (phm) => {
      for (const answer of [
        await phm.generate(LEVEL),
        await phm.generate({ ...LEVEL, enable_nist_validation: false, include: ['hash_proof'] }),
      ]) {
        const whole: GeneratedKey = answer;
        assert.equal(whole.nist_score, 100);
        // @ts-expect-error: it was not requested.
        assert.equal(answer.nist_score, 100);
      }
    }));

  it('includes an optional verdict if the form is known only at run time', () =>
    withValidated(async (phm) => {
      const later = Date.now() > 0;
      const body: GenerateRequest = LEVEL;
      for (const answer of [
        await phm.generate({ ...LEVEL, enable_nist_validation: later }),
        await phm.generate(body),
      ]) {
        const score: number | undefined = answer.nist_score;
        assert.equal(score, answer.nist_report ? 100 : undefined);
        // @ts-expect-error: it may be missing.
        assert.equal(answer.nist_validation.tests_passed, 15);
      }
    }));

  it('includes the opening and a receipt that may be late, if the receipt is requested', () =>
    withClient([makes({ ...VALIDATED, ...RECEIPTED })], async (phm) => {
      for (const answer of [
        await phm.generate({ ...LEVEL, include: ['receipt'] }),
        await phm.generate({ ...LEVEL, include: ['hash_proof', 'receipt'] }),
        await phm.generate({ ...LEVEL, enable_nist_validation: true, include: ['receipt'] }),
      ]) {
        const opened: [string, string] = [answer.opening, answer.receipt_url];
        const url = `/api/v2/keys/${answer.key_id}/receipt`;
        assert.deepEqual(opened, [RECEIPTED.opening, url]);
        // @ts-expect-error: it may be null.
        assert.equal(answer.receipt.statement.type, 'phm-key-receipt/v1');
      }
      const asked = { ...LEVEL, enable_nist_validation: true } as const;
      for (const { nist_report, opening } of [
        await phm.generate({ ...asked, include: ['nist_report', 'receipt'] }),
        await phm.generate({ ...asked, include: ['receipt', 'hash_proof', 'nist_report'] }),
      ]) {
        assert.deepEqual([nist_report.tests.length, opening.length], [0, 44]);
      }
      const plain = await phm.generate(LEVEL);
      // @ts-expect-error: it was not requested.
      assert.equal(plain.opening, RECEIPTED.opening);
    }));

  it('of a receipt that was requested later includes its statement', () =>
    withClient([answers({ ...GENERATED, ...RECEIPTED })], async (phm) => {
      const { receipt } = await phm.receipt(GENERATED.key_id);
      const time: string = receipt.statement.time;
      assert.equal(time, RECEIPTED.receipt.statement.time);
    }));

  it('includes warnings with their code and pointer', () =>
    withClient([makes({ ...ANY_ANSWER, warnings: [] })], async (phm) => {
      const { warnings = [] } = await phm.generate(LEVEL);
      const shown = warnings.map(({ code, pointer, detail }) => `${code} ${pointer} ${detail}`);
      const { warnings: ofMetrics = [] } = await phm.metrics();
      assert.deepEqual([...shown, ...ofMetrics], []);
    }));

  it('is unavailable for an invalid request', () =>
    withClient([fails('invalid_request')], async (phm) => {
      for (const call of [
        // @ts-expect-error: no such level.
        phm.generate({ security_level: 512 }),
        // @ts-expect-error: no such field.
        phm.generate({ ...LEVEL, enable_nist: true }),
        // @ts-expect-error: no such field, in a request with validation.
        phm.generate({ ...LEVEL, enable_nist_validation: true, includes: ['nist_report'] }),
        // @ts-expect-error: no such value of include.
        phm.generate({ ...LEVEL, enable_nist_validation: true, include: ['report'] }),
        // @ts-expect-error: the level is missing.
        phm.generate({}),
      ]) {
        assert.ok((await rejection(call)) instanceof PhmApiError);
      }
    }));
});
