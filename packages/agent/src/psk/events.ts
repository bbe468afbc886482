import type { SourceEvents } from '../keys/events.ts';

/** What happens to the keys of a link, for metrics and logs. No event holds key bytes. */
export interface PskEvents extends SourceEvents {
  /** Both ends have the key. */
  agreed(epoch: number, id: string): void;
  /** The system took the key, for the first time or again after a restart. */
  installed(epoch: number, id: string): void;
  installFailed(epoch: number, reason: string): void;
  confirmed(epoch: number, id: string): void;
  /** The key of the epoch is used no more. `hasOld`: there is an earlier one to take back. */
  takenBack(epoch: number, hasOld: boolean): void;
  /** The epoch began without a key that both ends have. */
  stayed(epoch: number): void;
}
