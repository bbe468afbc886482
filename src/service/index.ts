/**
 * `KeyService`, which `http/` and the commands call, and the threads behind it. This folder holds messages, queues and
 * pools of threads, and readiness; `threads/` holds the code that runs in workers. Code that generates or validates one
 * key belongs to `keys/`.
 */

export { type AuditOrder, type EntryMaker, newAudit, pendingEntryOf } from './audit-record.ts';
export type { KeyFilter } from './key-list.ts';
export type { LedgerStatus } from './ledger-watch.ts';
export {
  absentLog,
  type LogApi,
  type LogBytesAnswer,
  type LogReceipt,
  type LogStatus,
  type LogTextAnswer,
  type ReceiptAnswer,
} from './log/api.ts';
export { examineLog, type LogFindings } from './log/examine.ts';
export { judgeSeal, sealed } from './log/head-seal.ts';
export { describeFault } from './log/log-rows.ts';
export type { LogNotice } from './log/notices.ts';
export { type LogSetup, NO_LOG_KEYS, prepareLog, readWitnesses } from './log/prepare.ts';
export { shownPath } from './log/shown-file.ts';
export type { Halt } from './log/stopped.ts';
export {
  areKeysOf,
  createLogKeys,
  describeOtherKeys,
  followingEntry,
  type NewLog,
  readLogKeys,
  restampStranded,
  startLog,
} from './log-start.ts';
export {
  checkMasterSecret,
  createMasterSecret,
  foreignSecretProblem,
  forgetMasterSecret,
  loadMasterSecret,
  readMasterSecret,
  rotateMasterSecret,
  unfitSecretProblem,
} from './master-secret.ts';
export type { RetiredVersion } from './messages.ts';
export {
  type KeyObserver,
  QUEUE_NAMES,
  type QueueName,
  type ServiceLoad,
  type StageListener,
} from './observer.ts';
export type { KeyServiceOptions, ReleasedKeys } from './options.ts';
export {
  havePlansChanged,
  plansDetails,
  refuseUnknownPlans,
  unknownPlansProblem,
} from './plan-check.ts';
export type { Randomness, RandomnessRow } from './randomness.ts';
export type { Readiness } from './readiness.ts';
export { KeyService } from './service.ts';
export type { ServiceSources } from './service-sources.ts';
export { type KeyApi, StartingService } from './starting-service.ts';
export type { WaitingThreads } from './waiting-threads.ts';
