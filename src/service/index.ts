/**
 * `KeyService`, which `http/` and the commands call, and what is behind it:
 *
 * - `requests/` from the checks of a request for keys to its answer, with the queue of the key worker
 * - `suite/` the pool of suite workers and its queue
 * - `deliveries/` boxes of recipients, and requests that wait for a copy
 * - `access/` API keys; `reading/` what changes nothing; `ledger/` the state of the ledger and of the clock
 * - `log/` the transparency log; `secret/` the master secret
 * - `threads/` the code of the workers, their start and their messages
 *
 * Code that generates or validates one key belongs to `keys/`. `offline.ts` is the door for those who run no service.
 */

export type { LedgerStatus } from './ledger/watch.ts';
export {
  absentLog,
  type LogApi,
  type LogBytesAnswer,
  type LogReceipt,
  type LogStatus,
  type LogTextAnswer,
  type ReceiptAnswer,
} from './log/api.ts';
export type { LogNotice } from './log/notices.ts';
export {
  type KeyObserver,
  QUEUE_NAMES,
  type QueueName,
  type ServiceLoad,
  type StageListener,
} from './observer.ts';
export type { KeyServiceOptions, ReleasedKeys } from './options.ts';
export type { Readiness } from './readiness.ts';
export type { KeyFilter } from './reading/key-list.ts';
export type { Randomness, RandomnessRow } from './reading/randomness.ts';
export { KeyService } from './service.ts';
export type { ServiceSources } from './service-sources.ts';
export { type KeyApi, StartingService } from './starting-service.ts';
export type { RetiredVersion } from './threads/messages.ts';
export type { WaitingThreads } from './threads/waiting-threads.ts';
