/** How the reports of `phm assess-ais31` name each edition of AIS 20/31 and its tests. */

import type { ProcedureResult, SuiteResult, TestName } from '../../../ais-20-31/src/index.ts';
import type { Paragraph } from '../report/text.ts';

/** The editions that the command runs, the default first. */
export const EDITIONS = ['3.0', '2.0'] as const;

export interface Edition {
  readonly edition: (typeof EDITIONS)[number];
  readonly standard: string;
  /** What was run of it. */
  readonly part: string;
  /** Names of the first and the second run. */
  readonly runs: readonly [string, string];
  readonly titles: Readonly<Partial<Record<TestName, string>>>;
  readonly caveat: Paragraph;
}

const VERSION_3: Edition = {
  edition: '3.0',
  standard: 'AIS 20/31 version 3.0 (PS2024)',
  part: 'T_irn',
  runs: ['First trial', 'Second trial, because the first failed'],
  titles: { T1: 'monobit', T2: 'poker', T3: 'MultiMMC prediction', T4: 'LZ78Y prediction' },
  caveat: [
    'AIS 20/31 version 3.0 (PS2024, section 4.6), black-box suite for internal random numbers. A sound generator fails a trial',
    'once in 68, and two in a row once in 4,600. A pass says that these tests found no defect. It is no evaluation and does not',
    'show entropy: output of a deterministic generator passes.',
  ],
};

const VERSION_2: Omit<Edition, 'part'> = {
  edition: '2.0',
  standard: 'AIS 20/31 version 2.0 (KS2011)',
  runs: ['First run', 'Repetition, because one test failed'],
  titles: {
    T0: 'disjointness',
    T1: 'monobit',
    T2: 'poker',
    T3: 'runs',
    T4: 'long run',
    T5: 'autocorrelation',
    T6: 'uniform distribution',
    T7: 'homogeneity',
    T8: 'entropy',
  },
  caveat: [
    'AIS 20/31 version 2.0 (KS2011, section 2.4.4). A pass says that these tests found no defect. It is no evaluation and',
    'does not show entropy: output of a deterministic generator passes.',
  ],
};

/** Returns the edition whose result this is. */
export function editionOf(result: ProcedureResult | SuiteResult): Edition {
  if ('suite' in result) return VERSION_3;
  return { ...VERSION_2, part: `Procedure ${result.procedure}` };
}
