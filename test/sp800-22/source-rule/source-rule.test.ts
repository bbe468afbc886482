/** The rule on sources: shares, parts, and verdicts that more data do not weaken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pValueLaw } from '../../../packages/sp800-22/src/p-value-laws.ts';
import { resolveParameters } from '../../../packages/sp800-22/src/resolve-parameters.ts';
import { walkBound } from '../../../packages/sp800-22/src/source-rule/bounded-p-values.ts';
import { repeatBound } from '../../../packages/sp800-22/src/source-rule/repeats.ts';
import { MEASURES, type Scan } from '../../../packages/sp800-22/src/source-rule/scan.ts';
import { LIMITS } from '../../../packages/sp800-22/src/source-rule/sequence-counts.ts';
import {
  PART_NAMES,
  SHARES,
  SOURCE_ALPHA,
  SourceRule,
  type SourceVerdict,
} from '../../../packages/sp800-22/src/source-rule/source-rule.ts';
import { judgeRank, RANK_PROBABILITIES } from '../../../packages/sp800-22/src/tests/rank.ts';

const UNJUDGED = { judged: false, reason: 'needs at least 55 sequences' } as const;

/** Adds sequences whose smallest p-values are these. */
function ruleOf(...smallest: readonly number[]): SourceRule {
  const rule = new SourceRule();
  for (const p of smallest)
    rule.add({ bits: 1000, bounded: [{ test: 'frequency', p }], tests: [] });
  return rule;
}

function partOf({ parts }: SourceVerdict, name: string) {
  const part = parts.find((one) => one.name === name);
  assert.ok(part);
  return part;
}

test('the shares of the parts sum to the share of the rule', () => {
  const sum = Object.values(SHARES).reduce((total, share) => total + share, 0);
  assert.ok(Math.abs(sum - SOURCE_ALPHA) < 1e-15);
  const { parts } = ruleOf(1).judge(UNJUDGED);
  assert.deepEqual(
    parts.map(({ name }) => name),
    PART_NAMES,
  );
  for (const { name, alpha } of parts) assert.equal(alpha, SHARES[name]);
});

test('one impossible sequence fails the source at any number of sequences', () => {
  for (const sound of [0, 1, 53, 54, 199, 999, 99_999]) {
    const verdict = ruleOf(...new Array<number>(sound).fill(0.5), 1e-300).judge(UNJUDGED);
    assert.equal(verdict.passed, false, `${sound} sound sequences`);
    assert.equal(verdict.findings.smallest?.sequence, sound + 1);
  }
});

test('a source whose first sequences fail at 1e-9 still fails with up to 100,000 sequences', () => {
  for (const prefix of [1, 10, 1000]) {
    const rule = ruleOf(...new Array<number>(prefix - 1).fill(0.5), 1e-9 / prefix);
    const before = partOf(rule.judge(UNJUDGED), 'smallest');
    assert.ok(before.judged && Math.abs(before.p / 1e-9 - 1) < 1e-9);
    for (let i = prefix; i < 100_000; i++) {
      rule.add({ bits: 1000, bounded: [{ test: 'frequency', p: 1 }], tests: [] });
    }
    assert.equal(rule.judge(UNJUDGED).passed, false, `${prefix} sequences before`);
  }
});

test('the smallest p-value fails just below its share divided by the number of p-values', () => {
  const limit = SHARES.smallest / 4;
  assert.equal(ruleOf(0.5, 0.5, 0.5, limit * 1.001).judge(UNJUDGED).passed, true);
  assert.equal(ruleOf(0.5, 0.5, 0.5, limit * 0.999).judge(UNJUDGED).passed, false);
});

/** Returns the verdict on 1,000 sequences, of which some have a test with this p-value. */
function verdictOn(low: number, p: number): SourceVerdict {
  const rule = new SourceRule();
  for (let i = 0; i < 1000; i++) {
    rule.add({ bits: 1000, bounded: [], tests: [{ test: 'dft', p: i < low ? p : 0.5 }] });
  }
  return rule.judge(UNJUDGED);
}

test('sequences below a limit are counted: as many as chance allows pass, more fail', () => {
  assert.equal(verdictOn(10, 0.005).passed, true);
  assert.equal(verdictOn(40, 0.005).passed, false);
  assert.equal(verdictOn(1, 1e-5).passed, true);
  assert.equal(verdictOn(8, 1e-5).passed, false);
  assert.equal(verdictOn(1, 1e-13).passed, false);
});

test('a limit is exceeded with at least its own probability, and further limits have wider margins', () => {
  for (const [i, { below, probability }] of LIMITS.entries()) {
    assert.ok(probability >= below);
    if (i > 0) assert.ok(probability / below >= LIMITS[i - 1].probability / LIMITS[i - 1].below);
  }
});

test('a test that is run alone has no more sound sequences below 10^-2 than the rule assumes', () => {
  const widest = [
    ['dft', [1000, 1004, 1140, 1382]],
    ['approximate_entropy', [65_536, 70_000]],
    ['universal', [387_840, 903_893]],
    ['frequency', [100, 109, 118]],
    ['runs', [100, 109]],
  ] as const;
  for (const [name, lengths] of widest) {
    for (const n of lengths) {
      const law = pValueLaw({ test: name, index: 1, label: '' }, n, resolveParameters(n));
      assert.ok(law.belowAlpha <= LIMITS[0].probability, `${name}, ${n} bits: ${law.belowAlpha}`);
    }
  }
});

/** Returns every table of `N` matrices by rank: its p-value, and its probability. */
function rankTables(N: number): { p: number; probability: number }[] {
  const factorials = [1];
  for (let i = 1; i <= N; i++) factorials.push(factorials[i - 1] * i);
  return Array.from({ length: N + 1 }, (_, full) =>
    Array.from({ length: N + 1 - full }, (__, oneLess) => {
      const counts = [full, oneLess, N - full - oneLess];
      const probability = counts.reduce(
        (product, count, i) => (product * RANK_PROBABILITIES[i] ** count) / factorials[count],
        factorials[N],
      );
      return { p: judgeRank(N, full, oneLess, RANK_PROBABILITIES).pValues[0], probability };
    }),
  ).flat();
}

test('rank alone has no more sound sequences below any limit than the rule assumes: all tables of few matrices', () => {
  for (const N of [38, 39, 40, 41, 42, 60, 80]) {
    const tables = rankTables(N);
    for (const { below, probability } of LIMITS) {
      const share = tables
        .filter(({ p }) => p < below)
        .reduce((sum, table) => sum + table.probability, 0);
      assert.ok(share <= probability, `${N} matrices: ${share} below ${below}`);
    }
  }
});

test('without anything to judge there is no verdict', () => {
  const rule = new SourceRule();
  rule.add({ bits: 100, bounded: [], tests: [] });
  const { passed, parts } = rule.judge(UNJUDGED);
  assert.equal(passed, null);
  assert.ok(parts.every((part) => !part.judged && part.reason.length > 0));
});

/** Counts of a sequence of 1,024 bits: `ones` of all, and half of the trials of each other measure. */
function scanOf(p: number, ones = 512): Scan {
  const piece = { measure: 'ones', from: 256, bits: 256, count: 0, trials: 256 };
  const totals = MEASURES.map(({ name, step }) => (name === 'ones' ? ones : 512 / step));
  return { p, compared: 112, piece, totals, bits: 1024 };
}

/** Adds sequences of 1,024 bits with these scans. */
function ruleOfScans(...scans: readonly Scan[]): SourceRule {
  const rule = new SourceRule();
  for (const scan of scans) rule.add({ bits: 1024, bounded: [], tests: [], scan });
  return rule;
}

test('the most unlikely piece is that of all sequences, and the first of equal ones', () => {
  const verdict = ruleOfScans(scanOf(0.5), scanOf(1e-5), scanOf(1e-5), scanOf(1)).judge(UNJUDGED);
  const scan = partOf(verdict, 'scan');
  assert.ok(scan.judged && Math.abs(scan.p / 4e-5 - 1) < 1e-12);
  assert.deepEqual(
    [verdict.findings.scan?.sequence, verdict.findings.scan?.compared],
    [2, 4 * 112],
  );
});

test('walks go to both sides, and the farthest of sixteen is judged as such', () => {
  for (const side of [1, -1]) {
    const verdict = ruleOfScans(
      scanOf(1, 512 + side * 60),
      scanOf(1, 512 + side * 40),
      scanOf(1, 512 - side * 30),
    ).judge(UNJUDGED);
    const { walks } = verdict.findings;
    assert.deepEqual(
      [walks?.measure, walks?.deviation, walks?.sequence, walks?.steps],
      ['ones', side * 200, 2, 3072],
    );
    const part = partOf(verdict, 'walks');
    assert.ok(part.judged && Math.abs(part.p / (16 * walkBound(200, 3072)) - 1) < 1e-12);
    assert.equal(part.passed, part.p >= SHARES.walks);
  }
});

test('data that occur twice are judged by the bytes of all sequences', () => {
  const repeat = { sequence: 3, bit: 0, earlier_sequence: 1, earlier_bit: 0 };
  const rule = ruleOfScans(scanOf(1), scanOf(1), scanOf(1));
  const found = partOf(rule.judge(UNJUDGED, repeat), 'repeats');
  assert.ok(found.judged);
  assert.deepEqual([found.p, found.passed], [repeatBound(3 * 128), false]);
  const none = partOf(rule.judge(UNJUDGED, null), 'repeats');
  assert.deepEqual([none.judged && none.p, none.judged && none.passed], [1, true]);
});

test('a p that equals the share of its part passes', () => {
  for (const [p, passed] of [
    [SHARES.smallest, true],
    [SHARES.smallest * (1 - 1e-12), false],
  ] as const) {
    assert.equal(ruleOf(p).judge(UNJUDGED).passed, passed);
  }
});
