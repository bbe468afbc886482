/** Options and callbacks of the key service. */
import type { Clock } from '../clock.ts';
import type { SourceEvent, SourceName } from '../entropy/index.ts';
import type { Defect, EvidenceWarning } from '../keys/latch.ts';
import type { BoxLimits, ClockReading, Quotas, StoreLocation } from '../ledger/index.ts';
import type { MasterSecret } from '../proof/index.ts';
import type { LedgerStatus } from './ledger/watch.ts';
import type { LogNotice } from './log/notices.ts';
import type { LogSetup } from './log/setup.ts';
import type { KeyObserver } from './observer.ts';
import type { ServiceSources } from './service-sources.ts';
import type { WaitingThreads } from './threads/waiting-threads.ts';

export interface KeyServiceOptions {
  readonly store: StoreLocation;
  /** Monthly quotas by plan. */
  readonly quotas: Quotas;
  /** Limits of the box of each recipient. Default: those of the configuration's defaults. */
  readonly boxLimits?: BoxLimits;
  readonly sources: ServiceSources;
  readonly secret: MasterSecret;
  readonly suiteWorkers: number;
  /** The key worker and the first suite worker, which wait for their data. Default: the service starts them. */
  readonly threads?: WaitingThreads;
  /** The transparency log; null without. */
  readonly log: LogSetup | null;
  readonly clock: Clock;
  /** Called once when the process latches, with the cause and the keys released before, for the log. */
  readonly onLatch: (defect: Defect, released: ReleasedKeys) => void;
  /** Called on each failure of the gate, and when samples begin to add up to a defect, for the log. */
  readonly onEvidenceWarning: (warning: EvidenceWarning) => void;
  /** Called after a latch with the released plain keys that have no later good sample of their generator, for the log. */
  readonly onUnvouchedKeys: (keyIds: readonly string[], lastGoodMs: number | null) => void;
  /** Called when a suite worker is late with a sample or a key, and when it has answered, for the log. */
  readonly onSuiteLate: (isLate: boolean) => void;
  /** Called when a suite worker after the first did not start in time and has been ended, for the log. */
  readonly onSuiteWorkerLost: (waitedMs: number) => void;
  /** Called at shutdown with the reason if no sample vouches for the last plain keys, for the log. */
  readonly onUnvouchedEnd: (reason: string) => void;
  /** Called on events of sources that are read in the background, for the log. */
  readonly onSourceEvent: (name: SourceName, event: SourceEvent) => void;
  /** Called when the ledger fails or works again, or a version of the master secret is missing, retired or reinstated. */
  readonly onLedgerChange: (status: LedgerStatus, before: LedgerStatus) => void;
  /** Called on events of the transparency log, for the log lines. */
  readonly onLogNotice?: (notice: LogNotice) => void;
  /** Reading of this machine's clock at startup. */
  readonly clockAtStart?: ClockReading;
  /** Called when a doubt about this machine's clock begins or ends. */
  readonly onClockChange?: (reading: ClockReading) => void;
  /** Called when the ledger's connections lead to another host of PostgreSQL. */
  readonly onDatabaseMove?: (host: string) => void;
  /** Called once, within two seconds of the first API key that the operator issues. */
  readonly onOwnApiKeys?: () => void;
  /** Receives counts and durations. */
  readonly observer?: KeyObserver;
  /** Called when a worker has died. The state is unknown then, and the process MUST end. */
  readonly onFatal: (error: Error) => void;
}

/** All keys of this process, with evidence and without. */
export interface ReleasedKeys {
  readonly keys: number;
  readonly sinceMs: number;
}
