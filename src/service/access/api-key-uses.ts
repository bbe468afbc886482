/**
 * Notes in which hour each API key was last used. The first use in an hour is written by a timer, with those of other API
 * keys, so that no request waits for it.
 */
import { type Clock, HOUR_MS } from '../../clock.ts';
import type { Principal } from '../../ledger/index.ts';

/** How long uses wait to be written together. A server that is killed loses them. */
const WRITE_AFTER_MS = 10_000;

/** Records that API keys were used in an hour since 1970. */
type WriteUses = (apiKeyIds: readonly string[], hour: number) => Promise<unknown>;

export class ApiKeyUses {
  readonly #clock: Clock;
  readonly #write: WriteUses;
  /** API keys whose use in `#hour` was noted. */
  readonly #noted = new Set<string>();
  #waiting = new Set<string>();
  #hour = 0;
  #timer: NodeJS.Timeout | null = null;
  #isEnding = false;

  constructor(clock: Clock, write: WriteUses) {
    this.#clock = clock;
    this.#write = write;
  }

  note({ apiKeyId, lastUsedHour }: Pick<Principal, 'apiKeyId' | 'lastUsedHour'>): void {
    const hour = Math.floor(this.#clock.nowMs() / HOUR_MS);
    if (lastUsedHour === hour) return;
    if (hour !== this.#hour) {
      void this.flush();
      this.#hour = hour;
      this.#noted.clear();
    }
    if (this.#noted.has(apiKeyId)) return;
    this.#noted.add(apiKeyId);
    this.#waiting.add(apiKeyId);
    this.#arm();
  }

  /** Writes what waits. Never rejects: uses that could not be written are tried again within their hour. */
  async flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const hour = this.#hour;
    const apiKeyIds = [...this.#waiting];
    if (apiKeyIds.length === 0) return;
    this.#waiting = new Set();
    try {
      await this.#write(apiKeyIds, hour);
    } catch {
      if (hour !== this.#hour) return;
      for (const one of apiKeyIds) this.#waiting.add(one);
      this.#arm();
    }
  }

  /** Writes what waits, if `mayWrite`, and tries it once. Never rejects. */
  async end(mayWrite: boolean): Promise<void> {
    this.#isEnding = true;
    if (this.#timer) clearTimeout(this.#timer);
    if (mayWrite) await this.flush();
  }

  #arm(): void {
    if (this.#isEnding) return;
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_AFTER_MS).unref();
  }
}
