/**
 * Compares the transparency log with the ledger, and either with what was seen or copied of it. Commands call it, servers do not.
 * Functions take a store or another source, the clock, keys and known checkpoints; they return findings and change nothing.
 *
 * - `check-database.ts` the logs of a database and every row; `check-published.ts` a log from outside; `check-copy.ts` a copy,
 *   before its entries are taken; `audit-proofs.ts` the proof of each audit record
 * - `rows-check.ts`, `audits-check.ts`, `states-check.ts`, `accounts-check.ts`, `api-keys-check.ts` rows and records beside entries
 * - `tree-check.ts` the tree, recomputed from its entries
 *
 * What needs no log, such as counters and sums, is checked by `ledger/verify/`.
 */

export { allAudits } from './accounts-check.ts';
export { AuditProver, verifyAudits } from './audit-proofs.ts';
export { checkCopy } from './check-copy.ts';
export { checkDatabase, type DatabaseReport, type KnownCheckpoint } from './check-database.ts';
export {
  checkPublished,
  type EarlierCheckpoint,
  trustEarlier,
  trustNewest,
} from './check-published.ts';
export type { LogSource } from './log-source.ts';
export { continues, storeSource, storeTiles } from './store-source.ts';
export { requireSeal } from './stored-seal.ts';
export { checkTree, type TreeCopy } from './tree-check.ts';
export { describeCheckpoint, type TrustedCheckpoint, verifierKeysOf } from './trust.ts';
