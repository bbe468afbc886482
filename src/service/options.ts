/** What the key service is told at its start, and whom it tells what it meets. */
import type { Clock } from '../clock.ts';
import type { SourceEvent, SourceName } from '../entropy/index.ts';
import type { Defect, FailedVerdict } from '../keys/latch.ts';
import type { ClockReading, StoreLocation } from '../ledger/index.ts';
import type { MasterSecret } from '../proof/index.ts';
import type { LedgerStatus } from './ledger-watch.ts';
import type { KeyObserver } from './observer.ts';
import type { ServiceSources } from './service-sources.ts';

export interface KeyServiceOptions {
  readonly store: StoreLocation;
  readonly sources: ServiceSources;
  readonly secret: MasterSecret;
  readonly suiteWorkers: number;
  readonly clock: Clock;
  /** Told once why the process has latched, and which keys it released before, for the log. */
  readonly onLatch: (defect: Defect, released: ReleasedKeys) => void;
  /** Told of each failure of the gate, for the log. */
  readonly onFailedVerdict: (verdict: FailedVerdict) => void;
  /** Told after a latch which plain keys were released that no good sample of their generator vouches for, for the log. */
  readonly onUnvouchedKeys: (keyIds: readonly string[], lastGoodMs: number | null) => void;
  /** Told when the suite does not answer for a sample of the generator of plain keys, and when it does again, for the log. */
  readonly onSuiteLate: (isLate: boolean) => void;
  /** Told at the end why no sample vouches for the last plain keys, for the log. */
  readonly onUnvouchedEnd: (reason: string) => void;
  /** Told what happens to sources that are read in the background, for the log. */
  readonly onSourceEvent: (name: SourceName, event: SourceEvent) => void;
  /** Told when the ledger fails or works again, or a version of the master secret is missing, retired or reinstated. */
  readonly onLedgerChange: (status: LedgerStatus, before: LedgerStatus) => void;
  /** What the start has found of this machine's clock. */
  readonly clockAtStart?: ClockReading;
  /** Told when this machine's clock is no longer believed, and when it is again. */
  readonly onClockChange?: (reading: ClockReading) => void;
  /** Told once that there are API keys that the operator has issued, within two seconds of the first. */
  readonly onOwnApiKeys?: () => void;
  /** Told what is worth counting and timing. */
  readonly observer?: KeyObserver;
  /** Told when a worker has died: nothing can be vouched for, the process must end. */
  readonly onFatal: (error: Error) => void;
}

/** All keys of this process, with evidence and without. */
export interface ReleasedKeys {
  readonly keys: number;
  readonly sinceMs: number;
}
