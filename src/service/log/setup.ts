/** What a server runs its log with. */
import type { LogKeys } from '../../log/index.ts';
import type { LogBinding } from '../threads/messages.ts';
import type { Halt } from './stopped.ts';

/** What a key service needs to run a log. */
export interface LogSetup {
  readonly binding: LogBinding;
  /** The verifier keys of the log, Ed25519 first. */
  readonly verifierKeys: readonly string[];
  /** Null if this server lacks them. */
  readonly keys: LogKeys | null;
  /** What `/log/policy` answers. */
  readonly policy: string;
  readonly stateFile: string;
  /** Policy with the witnesses as text; null without. */
  readonly witnesses: string | null;
  /** Names of these witnesses. */
  readonly witnessNames: readonly string[];
  readonly intervalMs: number;
  /** Why the log is stopped from the start; null if it runs. */
  readonly stopped: string | null;
  /** Why no key may leave the server from the start; null if keys may. */
  readonly halt: Halt | null;
}
