/** docs/receipts.md: its sample is a receipt of a running server, and its steps are enough to verify one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from './support/texts/imports.ts';
import { codeBlocks, readPage } from './support/texts/markdown.ts';
import {
  evidenceDigestByThePage,
  type Json,
  verifyByThePage,
} from './support/texts/receipt-by-the-page.ts';

const PAGE = readPage('docs/receipts.md');
const SERVED = JSON.parse(
  readFileSync(join(ROOT, 'test/vectors/receipt/served.json'), 'utf8'),
) as Json;

const { policy, answer } = SERVED;
const { receipt } = answer;
const key = Buffer.from(answer.key, 'hex');
const opening = Buffer.from(answer.opening, 'base64');

/** Returns the blocks of the page that contain these words. */
function blocksWith(words: string): string[] {
  return codeBlocks(PAGE).flatMap(({ code }) => (code.includes(words) ? [code] : []));
}

/** Reports whether a line of the page, shortened in one place, is the start and the end of the other. */
function isShortened(shown: string, whole: string): boolean {
  const [start = '', end = ''] = shown.split('…');
  return whole.startsWith(start) && whole.endsWith(end);
}

/** Returns the receipt with a change to its statement. */
function withStatement(change: Json): Json {
  return { ...receipt, statement: { ...receipt.statement, ...change } };
}

function withProof(from: string | RegExp, to: string): Json {
  const proof = receipt.proof.replace(from, to);
  assert.notEqual(proof, receipt.proof, String(from));
  return { ...receipt, proof };
}

describe('the sample of docs/receipts.md', () => {
  it('is the receipt that a server answered', () => {
    const [sample = ''] = blocksWith('"row_digest"');
    assert.deepEqual(JSON.parse(sample).statement, receipt.statement);
    const [proof = ''] = blocksWith('c2sp.org/tlog-proof@v1\nindex');
    const whole = receipt.proof.split('\n');
    const shown = proof.split('\n');
    assert.equal(shown.length, whole.length);
    for (const [i, line] of shown.entries()) assert.ok(isShortened(line, whole[i]), line);
  });

  it('has the policy of this log', () => {
    const [sample = ''] = blocksWith('quorum none');
    const whole = policy.split('\n');
    for (const [i, line] of sample.split('\n').entries())
      assert.ok(isShortened(line, whole[i]), line);
  });
});

describe('"How to verify" of docs/receipts.md', () => {
  it('verifies the receipt with key and opening', () => {
    const shown = verifyByThePage({ receipt, policy, key, opening });
    assert.equal(shown.origin, receipt.statement.service);
    assert.deepEqual(shown.signedBy, [`${shown.origin} (type 6)`]);
  });

  it('verifies the report by the evidence digest', () => {
    assert.equal(evidenceDigestByThePage(answer.nist_report), receipt.statement.evidence.digest);
    const [first, ...others] = answer.nist_report.tests;
    const changed = { ...first, p_values: [first.p_values[0] / 2] };
    assert.notEqual(
      evidenceDigestByThePage({ ...answer.nist_report, tests: [changed, ...others] }),
      receipt.statement.evidence.digest,
    );
  });

  it('refuses every other statement, proof, policy, key and opening', () => {
    const refused = (given: Json, step: RegExp) =>
      assert.throws(() => verifyByThePage({ receipt, policy, ...given }), step);
    for (const change of [
      { security_level: 384 },
      { time: '' },
      { evidence: null },
      { extra: 1 },
    ]) {
      refused({ receipt: withStatement(change) }, /^Error: 4/);
    }
    refused({ receipt: withStatement({ service: 'other.example' }) }, /^Error: 3/);
    refused({ receipt: withProof(/index \d+/, 'index 0') }, /^Error: 4/);
    refused({ receipt: withProof(/index \d+\n.*\n/, 'index 6\n') }, /^Error: 4/);
    refused({ receipt: withProof(/\n7\n/, '\n8\n') }, /^Error: (?:4|5)/);
    refused({ receipt: withProof(/\n— [^\n]+\n$/, '\n') }, /^Error: 5/);
    refused({ policy: policy.replace(/^log /m, '# log ') }, /^Error: 5/);
    refused({ key: key.map((byte) => byte ^ 1), opening }, /^Error: 6/);
    refused({ key, opening: opening.subarray(1) }, /^Error: 6/);
  });
});
