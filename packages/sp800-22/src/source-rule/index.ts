/** The verdict on a source of any number of sequences, for programs that run the suite on each. */
export { supplementEvidence, testEvidence } from './evidence.ts';
export { Repeats } from './repeats.ts';
export {
  PART_NAMES,
  PARTS_OF_P_VALUES,
  type PartName,
  SHARES,
  SOURCE_ALPHA,
  type SourcePart,
  SourceRule,
  type SourceVerdict,
} from './source-rule.ts';
