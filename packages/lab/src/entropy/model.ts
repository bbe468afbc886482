/** The model of an entropy report: what each kind of assessment is a function to. */
import type { Report } from '../report/model.ts';
import type { Paragraph } from '../report/text.ts';
import type { EntropyClaim } from './claim.ts';
import type { BitstringPart } from './coverage.ts';
import type { InitialFigures } from './figures.ts';

/** The report on an assessment, without the trace. */
export interface EntropyReport extends Report {
  /** Null for conditioned output. */
  readonly claim: EntropyClaim | null;
  readonly page: EntropyPageParts;
}

export interface EntropyPageParts {
  readonly title: string;
  /** Null if the assessment has no tests that could fail. */
  readonly passed: boolean | null;
  /** What the tests say, or the result; null if `initial` is all. */
  readonly verdict: string | null;
  /** What H_I follows from; null if this assessment does not compute H_I. */
  readonly initial: InitialFigures | null;
  /** Sentences on what the verdict rests on. */
  readonly remarks: readonly string[];
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** The first row is the heading. */
  readonly tables: readonly { readonly title: string; readonly rows: readonly string[][] }[];
  /** Sentences on how the tests decide; empty without tests. */
  readonly rule: readonly string[];
  /** Sentences on signs in the tables. */
  readonly signs: readonly string[];
  readonly bitsPerSymbol: number;
  readonly bitstring: BitstringPart | null;
  readonly caveat: Paragraph;
}
