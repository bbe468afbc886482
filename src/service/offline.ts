/**
 * What works on the log and on the master secret in a database, for commands and for the start of a server. It runs no service:
 * a command that came through `index.ts` would load the suite, the queues and all threads.
 */
export { type AuditOrder, type EntryMaker, newAudit, pendingEntryOf } from './log/audit-record.ts';
export { followingEntry } from './log/closed-logs.ts';
export { examineLog, type LogFindings } from './log/examine.ts';
export { judgeSeal, sealed } from './log/head-seal.ts';
export { describeFault, firstFault } from './log/log-rows.ts';
export { areKeysOf, describeOtherKeys, verifierKeysText, whyStopped } from './log/own-keys.ts';
export { restampStranded } from './log/restamp.ts';
export type { LogSetup } from './log/setup.ts';
export { shownPath } from './log/shown-file.ts';
export type { Halt } from './log/stopped.ts';
export { lackedVersions } from './secret/versions.ts';
