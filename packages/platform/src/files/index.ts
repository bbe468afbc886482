/**
 * Files: written whole and durably or not at all, read up to a limit, believed only from their owner. Nothing here knows
 * what a file is for.
 */
export {
  DurableFile,
  makeEmptyFile,
  removeLeftovers,
  temporaryFiles,
  writeDurably,
  writeFailure,
} from './durable-file.ts';
export {
  fileProblem,
  linkProblem,
  otherOwner,
  replaceable,
} from './ownership.ts';
export { readFailure } from './read-failure.ts';
export { syncDirectory } from './sync.ts';
export {
  decodeText,
  plainText,
  readBounded,
  readStreamBounded,
  readTextFile,
  readTextStream,
  TextError,
} from './text-file.ts';
export {
  type FileDigests,
  fileDigests,
  formatDigests,
  parseDigests,
  treeDigest,
} from './tree-digest.ts';
