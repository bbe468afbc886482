/** What happens, for metrics and logs. No event holds key bytes. */
export interface KeyEvents extends SourceEvents {
  /** Keys that a system got as their master or as a slave. */
  handedOut(role: 'master' | 'slave', keys: number): void;
  /** The service made keys in this time. */
  made(keys: number, ms: number): void;
}

/** What happens with the service, the box and the journal. */
export interface SourceEvents {
  /** A call of the service failed. */
  sourceFailed(call: 'make' | 'list' | 'fetch' | 'remove' | 'state', error: unknown): void;
  /** The service served a call. */
  sourceServed(call: 'make' | 'list' | 'fetch' | 'remove' | 'state'): void;
  /** A copy that is not what the configuration allows. It stays in the box until it expires. */
  copyRefused(id: string, reason: string): void;
  journalFailed(error: unknown): void;
}
