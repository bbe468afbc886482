/** Verification of receipts: every part altered, and what a verdict says. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type NistReport,
  type ReceiptVerdict,
  UnreadableError,
  verifyReceipt,
} from '../../sdk/src/index.ts';
import { toNistReport } from '../../src/http/wire/nist-report.ts';
import { gatherEvidence, type StreamEvidence } from '../../src/keys/evidence.ts';
import { packPValues } from '../../src/keys/p-values.ts';
import { evidenceDigest } from '../../src/keys/statement.ts';
import { CODE_POINTS } from '../support/texts/code-points.ts';
import { CASES, type Case } from './receipt-cases.ts';
import { issue, LOG, LOG_ED25519, NOW, POLICY, policyOf, Signer } from './receipts.ts';
import { rejection } from './support.ts';

/** Length of a judged sample: 2^20 bits. */
const SAMPLE_BYTES = 2 ** 17;

const verify = ({ receipt, policy, key, opening }: Omit<Case, 'name' | 'problems'>) =>
  verifyReceipt(receipt, { policy, key, opening, now: NOW });

/** The cases that get a verdict. */
const VERDICTS = CASES.filter(({ isUnreadable }) => !isUnreadable);

/** Every text of a verdict. */
const sentences = ({ problems, shown, notShown }: ReceiptVerdict) => [
  ...problems,
  ...shown,
  ...notShown,
];

describe('verifyReceipt', () => {
  for (const one of CASES) {
    if (one.isUnreadable) {
      it(`gives no verdict on ${one.name}`, async () => {
        const error = await rejection(verify(one));
        assert.ok(error instanceof UnreadableError, String(error));
        assert.ok(error.message.startsWith(one.problems[0] ?? '?'), error.message);
        assert.match(error.message, /^[A-Z].*\.$/);
      });
      continue;
    }
    it(`${one.problems.length === 0 ? 'accepts' : 'refuses'} ${one.name}`, async () => {
      const verdict = await verify(one);
      assert.equal(verdict.valid, one.problems.length === 0, verdict.problems.join('\n'));
      assert.equal(verdict.problems.length, one.problems.length, verdict.problems.join('\n'));
      for (const [i, start] of one.problems.entries()) {
        assert.ok(verdict.problems[i]?.startsWith(start), verdict.problems[i]);
      }
      for (const sentence of sentences(verdict)) assert.match(sentence, /^[A-Z].*\.$/);
    });
  }
});

describe('the words of a verdict', () => {
  const { receipt, key, opening } = issue({
    statement: {
      evidence: {
        digest: `sha256:${'0'.repeat(64)}`,
        verdict: 'PASS',
        tests_passed: 15,
        total_tests: 15,
      },
    },
  });

  it('say what was shown, by whose signature, and what was not', async () => {
    const verdict = await verify({ receipt, policy: POLICY, key, opening });
    const { shown, notShown, problems, ...facts } = verdict;
    assert.deepEqual(problems, []);
    assert.deepEqual(shown, [
      'Statement, proof and checkpoint fit together: the statement is entry 5, counted from 0, of a log with 11 entries.',
      'The log "keys.example/log" signed the checkpoint with ML-DSA-44 at 2027-01-15T08:00:00Z.',
      "The log's statement is that it generated the 256-bit key phm_2170353998975470955695595929441419327 at 2027-01-15T07:59:59.123+00:00, with 15 of 15 statistical tests passed and the verdict PASS.",
      'The given key is the key of this receipt: with its opening it fits the commitment.',
    ]);
    assert.deepEqual(notShown, [
      'That others see the same log: no witness of the policy cosigned. Without independent witnesses a log is a file signed by its owner.',
      'Which p-values the statistical tests had: no nist_report was given.',
      'That the key is random, or that the service kept no copy of it: a receipt shows what the service stated, and when.',
    ]);
    assert.deepEqual(facts, {
      valid: true,
      statement: receipt.statement,
      entryIndex: 5,
      treeSize: 11,
      signedAt: '2027-01-15T08:00:00Z',
      witnesses: [],
    });
  });

  it('claim no signature of the log where one is wrong or missing', async () => {
    const wrong = VERDICTS.filter(({ problems }) =>
      problems.some((one) =>
        /^The (signature of|checkpoint has no signature)|^The policy/.test(one),
      ),
    ).filter(({ name }) => !/quorum|witness|cosignature/.test(name));
    assert.ok(wrong.length > 8);
    for (const one of wrong) {
      const { shown, statement } = await verify(one);
      assert.ok(statement, one.name);
      assert.doesNotMatch(shown.join('\n'), /^The log/m, one.name);
    }
  });

  it('claim nothing for the log without a policy', async () => {
    const verdict = await verify({ receipt });
    assert.deepEqual(verdict.shown.length, 1);
    assert.match(verdict.shown[0] ?? '', /^Statement, proof and checkpoint fit together/);
    assert.deepEqual([verdict.signedAt, verdict.witnesses], [null, []]);
    assert.equal(verdict.statement?.key_id, receipt.statement.key_id);
  });

  it('say that Ed25519 does not withstand quantum computers', async () => {
    const { valid, shown, notShown, signedAt } = await verify({
      receipt,
      policy: policyOf([LOG_ED25519]),
    });
    assert.ok(valid);
    assert.equal(signedAt, null);
    assert.equal(shown[1], 'The log "keys.example/log" signed the checkpoint with Ed25519.');
    assert.match(notShown.join('\n'), /the post-quantum signature was not required\.$/m);
    assert.match(
      notShown.join('\n'),
      /^When the log signed: its Ed25519 signature states no time\.$/m,
    );
    const both = await verify({ receipt, policy: policyOf([LOG_ED25519, LOG]) });
    assert.doesNotMatch(both.notShown.join('\n'), /quantum/);
    assert.equal(
      both.shown[1],
      'The log "keys.example/log" signed the checkpoint with Ed25519 and ML-DSA-44 at 2027-01-15T08:00:00Z.',
    );
  });

  it('name the witnesses and their times', async () => {
    const witnesses = {
      one: new Signer('witness.example/one', 'ed25519-cosignature'),
      two: new Signer('witness.example/two', 'ml-dsa-44'),
    };
    const issued = issue({ signers: [LOG, ...Object.values(witnesses)] });
    const policy = policyOf([LOG], witnesses, 'group both all one two\nquorum both');
    const verdict = await verify({ receipt: issued.receipt, policy });
    assert.deepEqual(verdict.witnesses, ['one', 'two']);
    assert.equal(
      verdict.shown[2],
      'Witnesses saw a log without contradictions up to this checkpoint, as the policy asks: one at 2027-01-15T08:00:00Z and two at 2027-01-15T08:00:00Z.',
    );
    assert.doesNotMatch(verdict.notShown.join('\n'), /That others see the same log/);
    assert.match(verdict.notShown.join('\n'), /withstand quantum computers: some are Ed25519\.$/m);
  });

  it('do not claim a time that is later than the signature', async () => {
    const late = issue({ statement: { time: '2027-01-15T09:00:00.000+00:00' } });
    const { valid, notShown } = await verify({ receipt: late.receipt, policy: POLICY });
    assert.ok(valid);
    assert.match(notShown.join('\n'), /^When the key was generated: the stated time is later/m);
  });

  it('never repeat the key or the opening', async () => {
    for (const one of CASES) {
      const said = await verify(one).catch(({ message }: Error) => ({ message }));
      const text = JSON.stringify({ ...said, statement: null }).toLowerCase();
      for (const secret of [one.key, one.opening]) {
        if (secret && secret.length > 8) {
          assert.ok(!text.includes(secret.slice(1, -1).toLowerCase()), one.name);
        }
      }
    }
  });
});

/** A verdict with a problem, or none. */
async function assertNotValid(verdict: Promise<ReceiptVerdict>): Promise<void> {
  try {
    const { valid, problems } = await verdict;
    assert.equal(valid, false);
    assert.ok(problems.length > 0);
  } catch (error) {
    assert.ok(error instanceof UnreadableError, String(error));
  }
}

describe('a file with a receipt', () => {
  const { receipt, key, opening } = issue();
  const pinned = { policy: POLICY, now: NOW };
  const key_id = receipt.statement.key_id;
  const saved = { key_id, receipt, opening, receipt_url: `/api/v2/keys/${key_id}/receipt` };
  const HELD = /^The given key is the key of this receipt/m;

  const files: [string, object, boolean][] = [
    ['the file of "phm generate --receipt"', saved, false],
    ['the download of a record in the dashboard', { receipt }, false],
    ['the download of a new key in the dashboard', { receipt, opening }, false],
    ['the answer of receipt', { success: true, receipt, timestamp: 'x' }, false],
    ['an answer of generate', { success: true, ...saved, key }, true],
    ['the receipt alone', receipt, false],
  ];
  for (const [name, file, hasKey] of files) {
    it(`is read as it is: ${name}`, async () => {
      const text = JSON.stringify(file, undefined, 2);
      const windows = `\ufeff${text.replaceAll('\n', '\r\n')}\r\n`;
      for (const given of [file, text, windows]) {
        const { valid, problems, shown } = await verifyReceipt(given, pinned);
        assert.deepEqual([valid, problems], [true, []]);
        assert.equal(HELD.test(shown.join('\n')), hasKey);
      }
      const held = 'opening' in file ? { key } : { key, opening };
      const { problems, shown } = await verifyReceipt(text, { ...pinned, ...held });
      assert.deepEqual(problems, []);
      assert.match(shown.join('\n'), HELD);
    });
  }

  it('gives way to what the options say', async () => {
    const other = issue();
    const file = { ...saved, key };
    const both = { key: other.key, opening: other.opening };
    const { problems } = await verifyReceipt(file, { ...pinned, ...both });
    assert.match(problems.join(), /^The given key is not the key of this receipt/);
  });

  it('without a receipt gets no verdict', async () => {
    for (const [file, message] of [
      [{ ...saved, receipt: null }, /^The file has no receipt: .+ Get it by the key_id/],
      [{ ...saved, receipt: 'x' }, /^This is not a receipt: /],
      [{ opening }, /^This is not a receipt: /],
      [{ keys: [saved] }, /^This is not a receipt: /],
    ] as const) {
      for (const given of [file, JSON.stringify(file)]) {
        const error = await rejection(verifyReceipt(given, pinned));
        assert.ok(error instanceof UnreadableError);
        assert.match(error.message, message);
      }
    }
  });

  it('and its policy, key and opening may come from any editor', async () => {
    const windows = (text: string) => `\ufeff${text.trim().replaceAll('\n', '\r\n')}\r\n`;
    const options = { policy: windows(POLICY), key: windows(key), opening: windows(opening) };
    const { problems, shown } = await verifyReceipt(receipt, { ...options, now: NOW });
    assert.deepEqual(problems, []);
    assert.match(shown.join('\n'), HELD);
    for (const [name, text] of Object.entries({ policy: POLICY, key, opening })) {
      const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le').toString();
      const wrong = { ...pinned, key, opening, [name]: utf16 };
      const error = await rejection(verifyReceipt(receipt, wrong));
      assert.ok(error instanceof UnreadableError);
      assert.match(
        error.message,
        /^The .+: it is not UTF-8 text, perhaps UTF-16: save it as UTF-8\.$/,
      );
    }
  });
});

describe('any receipt', () => {
  const runs = (numRuns: number) => ({ numRuns });

  it('is right at any place of a log', async () => {
    const place = fc
      .integer({ min: 1, max: 300 })
      .chain((size) => fc.tuple(fc.constant(size), fc.nat({ max: size - 1 })));
    await fc.assert(
      fc.asyncProperty(place, async ([size, index]) => {
        const { receipt, key, opening } = issue({ index, size });
        const verdict = await verify({ receipt, policy: POLICY, key, opening });
        assert.deepEqual(verdict.problems, []);
        assert.deepEqual([verdict.entryIndex, verdict.treeSize], [index, size]);
      }),
      runs(20),
    );
  });

  it('is refused with one other character', async () => {
    const text = JSON.stringify(issue({ signers: [LOG] }).receipt);
    const place = fc.nat({ max: text.length - 1 });
    await fc.assert(
      fc.asyncProperty(place, CODE_POINTS, async (at, other) => {
        fc.pre(text[at] !== other);
        const altered = text.slice(0, at) + other + text.slice(at + 1);
        await assertNotValid(verify({ receipt: altered, policy: POLICY }));
      }),
      runs(100),
    );
  });

  it('is refused when it is cut', async () => {
    const { receipt } = issue();
    const text = JSON.stringify(receipt);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: text.length - 1 }), async (at) => {
        const error = await rejection(verify({ receipt: text.slice(0, at), policy: POLICY }));
        assert.ok(error instanceof UnreadableError);
      }),
      runs(50),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: receipt.proof.length - 1 }), async (at) => {
        const proof = receipt.proof.slice(0, at);
        await assertNotValid(verify({ receipt: { ...receipt, proof }, policy: POLICY }));
      }),
      runs(100),
    );
  });

  it('that is something else gets no verdict', async () => {
    const { receipt } = issue();
    const part = fc.oneof(
      fc.anything(),
      fc.constant(receipt.statement),
      fc.constant(receipt.proof),
    );
    const something = fc.oneof(
      fc.anything(),
      fc.record({ statement: part, proof: part }),
      fc.json(),
      fc.string().map((text) => ({ ...receipt, proof: text })),
    );
    await fc.assert(
      fc.asyncProperty(something, async (value) => {
        fc.pre(JSON.stringify(value) !== JSON.stringify(receipt));
        await assertNotValid(verify({ receipt: value, policy: POLICY }));
      }),
      runs(500),
    );
  });

  it('is refused under a policy of any text', async () => {
    const { receipt } = issue();
    const line = fc.oneof(fc.string(), fc.constantFrom('log x', 'quorum none', 'witness a b', '#'));
    await fc.assert(
      fc.asyncProperty(fc.array(line), async (lines) => {
        await assertNotValid(verify({ receipt, policy: lines.join('\n') }));
      }),
      runs(200),
    );
  });

  it('is opened only by 32 bytes', async () => {
    const { receipt, key } = issue();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), async (opening) => {
        const verdict = verifyReceipt(receipt, { policy: POLICY, key, opening, now: NOW });
        if (opening.length === 32) assert.equal((await verdict).problems.length, 1);
        else assert.match(String(await rejection(verdict)), /: The opening has the wrong form: /);
      }),
      runs(100),
    );
  });
});

describe('the options of verifyReceipt', () => {
  const { receipt, key, opening } = issue();

  it('take bytes in place of text, and leave them as they are', async () => {
    const bytes = { key: Buffer.from(key, 'hex'), opening: Buffer.from(opening, 'base64') };
    const verdict = await verifyReceipt(receipt, { policy: POLICY, now: NOW, ...bytes });
    assert.deepEqual(verdict.problems, []);
    assert.deepEqual([bytes.key.toString('hex'), bytes.opening.toString('base64')], [key, opening]);
  });

  it('give a verdict on a key of another length', async () => {
    const short = new Uint8Array(16);
    const { problems } = await verifyReceipt(receipt, { policy: POLICY, key: short, opening });
    assert.match(problems.at(-1) ?? '', /^The key has the wrong form: /);
  });

  it('reject values of wrong types', async () => {
    for (const [options, message] of [
      [null, /^the options must be an object such as \{ policy, key, opening \}, got null$/],
      [{ policy: 5 }, /^policy must be the text of a policy, got number$/],
      [{ key: 5 }, /^key must be a string or a Uint8Array, got number$/],
      [{ opening: {} }, /^opening must be a string or a Uint8Array, got object$/],
      [{ nistReport: 'x' }, /^nistReport must be an object/],
      [{ now: 1 }, /^now must be a valid Date$/],
      [{ now: new Date('?') }, /^now must be a valid Date$/],
    ] as const) {
      const error = await rejection(verifyReceipt(receipt, options as never));
      assert.ok(error instanceof TypeError);
      assert.match(error.message, message);
    }
  });
});

describe('a platform without an algorithm', () => {
  const { receipt } = issue();
  const { importKey } = crypto.subtle;

  /** Runs `work` while the platform lacks an algorithm of the Web Crypto API. */
  async function without<T>(algorithm: string, work: () => Promise<T>): Promise<T> {
    const limited = async (...args: Parameters<typeof importKey>) => {
      if (args[2] === algorithm) throw new DOMException('not supported', 'NotSupportedError');
      return importKey.apply(crypto.subtle, args);
    };
    crypto.subtle.importKey = limited as typeof importKey;
    try {
      return await work();
    } finally {
      crypto.subtle.importKey = importKey;
    }
  }

  it('gives the same verdicts without ML-DSA-44', async () => {
    for (const one of VERDICTS) {
      const expected = await verify(one);
      assert.deepEqual(await without('ML-DSA-44', () => verify(one)), expected, one.name);
    }
  });

  it('says which one verifies Ed25519', async () => {
    const policy = policyOf([LOG_ED25519]);
    const verdict = await without('Ed25519', () => verify({ receipt, policy }));
    assert.deepEqual(verdict.problems, [
      'The signature of the log "keys.example/log" was not verified. This platform cannot verify Ed25519 signatures: use Node 20 or newer, or a browser from 2025 or later.',
    ]);
    const other = await without('Ed25519', () => verify({ receipt, policy: POLICY }));
    assert.ok(other.valid);
  });
});

describe('the nist_report of a receipt', () => {
  const statistics = gatherEvidence(randomBytes(SAMPLE_BYTES), randomBytes(SAMPLE_BYTES));

  /** Returns a receipt for this evidence, and the report as the service returns it. */
  function withReport(evidence: StreamEvidence) {
    const { summary, carrier, modulated, gate } = evidence;
    const { definition, testsPassed: passed, totalTests: total } = summary;
    const digest = evidenceDigest(summary);
    const stated = { digest, verdict: 'PASS', tests_passed: passed, total_tests: total };
    const report = toNistReport({ carrier, modulated, gate, definition, streamsJudged: 1 });
    return {
      receipt: issue({ statement: { evidence: stated } }).receipt,
      report: JSON.parse(JSON.stringify(report)) as NistReport,
    };
  }
  const check = (receipt: unknown, nistReport: unknown) =>
    verifyReceipt(receipt, { policy: POLICY, nistReport: nistReport as never, now: NOW });
  const { receipt, report } = withReport(statistics);
  const DIFFERS = 'The given nist_report is not the one of this receipt: its digest differs.';

  it('has the digest that the service computes from the ledger', async () => {
    const verdict = await check(receipt, report);
    assert.deepEqual(verdict.problems, []);
    assert.ok(
      verdict.shown.includes(
        'The given nist_report has the gate and the p-values that the receipt states.',
      ),
    );
    assert.doesNotMatch(verdict.notShown.join('\n'), /p-values/);
    const plain = withReport(gatherEvidence(randomBytes(SAMPLE_BYTES), null));
    assert.deepEqual((await check(plain.receipt, plain.report)).problems, []);
  });

  it('has p-values that are rounded down, also where the product rounds up', async () => {
    // The largest number below 2.9e-8: multiplied by 10^9, it gives 29.
    const p = 2.8999999999999998e-8;
    assert.ok(p < 2.9e-8 && Math.floor(p * 1e9) === 29);
    const [first, ...others] = statistics.carrier.tests;
    const carrier = {
      ...statistics.carrier,
      tests: [{ ...first, pValues: [p] } as typeof first & {}, ...others],
    };
    const pValues = packPValues({ carrier, modulated: statistics.modulated ?? { tests: [] } });
    const summary = { ...statistics.summary, pValues };
    const edge = withReport({ ...statistics, carrier, summary });
    assert.equal(edge.report.tests[0]?.p_values[0], p);
    assert.deepEqual((await check(edge.receipt, edge.report)).problems, []);
  });

  it('is refused when one p-value, the gate or the definition is another', async () => {
    const altered: ((copy: NistReport) => void)[] = [
      ({ tests: [first] }) => first?.p_values.splice(0, 1, 0.123456789),
      ({ tests }) => tests.at(-1)?.p_values.splice(-1, 1, 0.5),
      ({ tests }) => tests.find(({ name }) => name === 'serial')?.p_values.reverse(),
      ({ tests }) => tests.pop(),
      ({ modulation_tests: tests }) => tests.at(0)?.p_values.splice(0, 1, 0.25),
      ({ modulation_tests: tests }) => tests.splice(0),
      ({ gate }) => Object.assign(gate, { p_value: gate.p_value / 2 }),
      ({ gate }) => Object.assign(gate, { verdict: 'FAIL' }),
      (copy) => Object.assign(copy, { evidence_definition: copy.evidence_definition + 1 }),
    ];
    for (const alter of altered) {
      const copy = structuredClone(report);
      alter(copy);
      assert.deepEqual((await check(receipt, copy)).problems, [DIFFERS], String(alter));
    }
  });

  it('does not belong to a receipt without tests', async () => {
    assert.deepEqual((await check(issue().receipt, report)).problems, [
      'The receipt states no statistical tests, so the nist_report is not of its key.',
    ]);
  });

  it('gives a verdict, whatever it is', async () => {
    const part = fc.anything();
    const something = fc.oneof(
      fc.object(),
      fc.record({ tests: part, modulation_tests: part, gate: part, evidence_definition: part }),
      fc.tuple(fc.constantFrom('tests', 'modulation_tests', 'gate'), part).map(([name, value]) => ({
        ...report,
        [name]: value,
      })),
    );
    await fc.assert(
      fc.asyncProperty(something, async (value) => {
        assert.deepEqual((await check(receipt, value)).problems, [DIFFERS]);
      }),
      { numRuns: 300 },
    );
  });
});
