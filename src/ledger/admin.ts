/** The door for commands: copies, inspects, moves and verifies a whole ledger. The server does not load it. */
export { type CopyReport, copyDatabase } from './backup.ts';
export { inspectDatabase } from './inspect.ts';
export type { DatabaseFault, Inspection } from './inspection.ts';
export { isBeforeBaseline, toBaseline } from './migrations.ts';
export { exportLedger, type MoveReport } from './move/export.ts';
export { importLedger } from './move/import.ts';
export { openMovableStore } from './move/open.ts';
export { requireWritable } from './sqlite/files.ts';
export type { RowCounts } from './tables.ts';
export {
  type Finding,
  type FindingKind,
  Findings,
  type Verification,
  verifyLedger,
} from './verify/index.ts';
