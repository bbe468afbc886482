/**
 * The law of `phm assess --doubling`: judges 1, 2, 4, … sequences of one source until a level fails.
 *
 * Each level is another chance to fail a sound source, so level k (from 0) has its own share of α:
 * α_k = α / ((k + 1)(k + 2)). The shares sum to α, however many levels there are, and need no independence.
 */

import { assertNames, assertObject, assertRows } from '../../../sp800-22/src/arguments.ts';
import {
  type RowName,
  SECOND_LEVEL_MINIMUM_SEQUENCES,
  SmallestPValues,
  type SmallPValue,
  type SuiteReport,
  sequencePValues,
  TEST_NAMES,
  type TestName,
} from '../../../sp800-22/src/index.ts';
import { RunCounts } from '../report/summary.ts';
/** Share of sound sources that fail at some level, at most. */
export const DOUBLING_ALPHA = 0.01;

/** Findings that a level lists. */
const MOST_FINDINGS = 10;

/** A probability that is smaller than the level allows. */
export interface Finding {
  readonly test: RowName;
  /** What was found: the number of a sequence, from 1, or a check of a row over all sequences. */
  readonly what: string;
  readonly p: number;
}

export interface Level {
  readonly level: number;
  readonly sequences: number;
  readonly bits: number;
  readonly alpha: number;
  /** Probabilities that the level compares: of tests on one sequence, and of checks of the second level. */
  readonly compared: number;
  /** The smallest of them. */
  readonly smallest: Finding | null;
  /** min(1, `compared` · the smallest): the level fails below `alpha`. */
  readonly p: number;
  readonly secondLevel: boolean;
  readonly failed: boolean;
  /** The probabilities below `alpha` / `compared`, smallest first. */
  readonly findings: readonly Finding[];
}

/** Returns α_k. */
export function levelAlpha(level: number): number {
  return DOUBLING_ALPHA / ((level + 1) * (level + 2));
}

/**
 * Judges all sequences so far at each level. It compares the tests of each sequence that enter the gate, and from 55
 * sequences on the checks of the second level, with one Bonferroni correction for all of them. Memory does not grow
 * with the sequences.
 */
export class Doubling {
  readonly #counts: RunCounts;
  #bits = 0;
  #levels = 0;
  /** Of the tests on each sequence so far. */
  readonly #tests = new SmallestPValues(MOST_FINDINGS);

  constructor(tests: readonly TestName[]) {
    assertNames('tests', tests, TEST_NAMES);
    this.#counts = new RunCounts(tests);
  }

  get sequences(): number {
    return this.#counts.sequences;
  }

  add(report: SuiteReport): void {
    assertObject('report', report, 'bits', 'constants', 'parameters');
    assertRows('report.tests', report.tests, 'name', 'applicable');
    this.#counts.add(report);
    this.#bits += report.bits;
    this.#tests.add(sequencePValues(report));
  }

  /** Judges the sequences so far as the next level. */
  judge(): Level {
    const level = this.#levels++;
    const alpha = levelAlpha(level);
    const checks = this.#checks();
    const compared = this.#tests.pValues + checks.length;
    const ofTests = this.#tests.smallest.map(toFinding);
    const all = [...ofTests, ...checks].sort((a, b) => a.p - b.p).slice(0, MOST_FINDINGS);
    const findings = all.filter(({ p }) => p < alpha / compared);
    return {
      level,
      sequences: this.sequences,
      bits: this.#bits,
      alpha,
      compared,
      smallest: all[0] ?? null,
      p: all.length === 0 ? 1 : Math.min(1, compared * all[0].p),
      secondLevel: checks.length > 0,
      failed: findings.length > 0,
      findings,
    };
  }

  #checks(): Finding[] {
    if (this.sequences < SECOND_LEVEL_MINIMUM_SEQUENCES) return [];
    const { secondLevel } = this.#counts.summary(true);
    if (!secondLevel.judged) return [];
    return secondLevel.rows.flatMap((row) => {
      if (!row.judged) return [];
      const { test, label, passes, sequences, proportionCheck, uniformityCheck } = row;
      const name = label === '' ? '' : `${label}: `;
      return [
        { check: proportionCheck, what: `${name}${passes}/${sequences} with p >= 0.01` },
        { check: uniformityCheck, what: `${name}uniformity of ${sequences} p-values` },
      ].flatMap(({ check, what }) => {
        if (!check.judged) return [];
        const limit = check.limit === undefined ? '' : `, as of ${check.limit}`;
        return [{ test, what: `${what}${limit}`, p: check.p }];
      });
    });
  }
}

function toFinding({ test, sequence, p }: SmallPValue): Finding {
  return { test, what: `sequence ${sequence}`, p };
}
