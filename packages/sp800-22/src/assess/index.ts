/**
 * Assesses inputs of any length over a pool of workers. In: a source of bytes. Out: an `Assessment`, and reports that are
 * written while it runs.
 */
export { type AssessOptions, assess, type Progress, type Writers } from './assess.ts';
export type { Assessment } from './assessment.ts';
export { type Cut, MAXIMUM_BITS, recognitionOf, SequenceCutter } from './cutter.ts';
export { AssessError, type AssessFault, type AssessFigures } from './errors.ts';
export { SuitePool } from './pool.ts';
export {
  type ConsumedInput,
  type InputFormat,
  type InputSequence,
  openReader,
  type SequenceReader,
  skipBits,
} from './reader.ts';
export { type Recognition, refuseForm } from './recognising.ts';
export { reports } from './run.ts';
export type { BlobSource, ByteSource, Source, StreamSource } from './source.ts';
