/**
 * In: text and bytes of a transparency log. Out: their values, and the messages to hash, sign and verify.
 * Standard: C2SP (signed-note, tlog-checkpoint, tlog-cosignature, tlog-policy, tlog-proof, tlog-tiles),
 * RFC 6962 §2.1, RFC 8785.
 *
 * Nothing here hashes, signs, reads or writes, so that Node and browsers share these files.
 */
export { decodeBase64, encodeBase64 } from './base64.ts';
export { canonicalJson, type JsonObject, type JsonValue } from './canonical.ts';
export { type Checkpoint, formatCheckpoint, HASH_BYTES, parseCheckpoint } from './checkpoint.ts';
export {
  type CosignedTree,
  ed25519CosignatureMessage,
  formatTimestampedSignature,
  mlDsa44CosignatureMessage,
  parseTimestampedSignature,
  type TimestampedSignature,
} from './cosignature.ts';
export { FormatError, quoted } from './format-error.ts';
export {
  ED25519,
  ED25519_COSIGNATURE,
  formatNote,
  formatSignatureLine,
  formatVerifierKey,
  isKeyName,
  keyIdMessage,
  ML_DSA_44_COSIGNATURE,
  type NoteSignature,
  parseNote,
  parseSignatureLines,
  parseVerifierKey,
  readKeyId,
  type SignedNote,
  type VerifierKey,
} from './note.ts';
export {
  meetsQuorum,
  NOT_YET_COSIGNED,
  type Policy,
  type PolicyGroup,
  type PolicyLog,
  type PolicyWitness,
  parsePolicy,
  quorumProblem,
} from './policy.ts';
export { formatProof, parseProof, type TlogProof } from './proof.ts';
export {
  base64,
  type Check,
  keyId,
  list,
  literal,
  mismatch,
  number,
  object,
  origin,
  orNull,
  text,
  time,
  typed,
  unless,
} from './shape.ts';
export {
  AUDIT_STATEMENT,
  type AuditStatement,
  type Delivery,
  deliveryOrNull,
  type EntropyCredit,
  KEY_STATEMENT,
  KEY_STATEMENT_V2,
  type KeyEvidence,
  type KeyStatement,
  type KeyStatementV1,
  type KeyStatementV2,
  keyCommitmentMessage,
  MAX_RECIPIENTS,
  OPENING_BYTES,
  parseAuditStatement,
  parseReceipt,
  type Receipt,
  recipientsProblem,
  type StatedSeal,
  statedRecipients,
} from './statement.ts';
export {
  formatEntries,
  parseEntries,
  parseTilePath,
  TILE_WIDTH,
  type TileLevel,
  type TilePath,
  tilePath,
  tileWidth,
} from './tiles.ts';
export {
  consistencySubtrees,
  inclusionSides,
  inclusionSubtrees,
  leafMessage,
  nodeMessage,
  perfectSubtrees,
  rootFromInclusion,
  rootFromSubtrees,
  rootSubtrees,
  rootsFromConsistency,
  type Side,
  type Subtree,
} from './tree.ts';
