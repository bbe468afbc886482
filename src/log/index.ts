/**
 * Stage 7 of 8. In: entries of keys and administrative actions. Out: the log's tree, signed checkpoints and
 * proofs. Standard: RFC 6962 §2.1 and C2SP, in the formats of `packages/tlog`.
 */
export { openCheckpoint, signCheckpoint, verifySignature } from './checkpoints.ts';
export { EMPTY_ROOT, entryOf, leafHash, nodeHash, sha256 } from './hash.ts';
export {
  checkOrigin,
  type LogKeys,
  newLogKeysText,
  newOrigin,
  openVerifierKey,
  parseLogKeys,
} from './keys.ts';
export { openPolicy, policyText } from './policy.ts';
export {
  consistencyProof,
  inclusionProof,
  rootAt,
  type TileSource,
  verifyConsistency,
  verifyInclusion,
} from './proofs.ts';
export {
  type PublishedState,
  readNote,
  readState,
  syncState,
  withStateLock,
  writeState,
} from './state-file.ts';
export { type Edge, type Extension, extendTree, rootOfEdge, type Tile, TreeError } from './tree.ts';
