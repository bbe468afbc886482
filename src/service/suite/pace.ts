/** Measured pace of the suite workers: milliseconds of work for one key, by kind of key. */
import type { KeyOrder, Recipient } from '../../keys/order.ts';

/** What the time for a key depends on. */
interface KindOfKey {
  readonly order: Pick<KeyOrder, 'withEvidence'>;
  readonly recipient: Pick<Recipient, 'suite'> | null;
}

/** First estimates, in milliseconds a key. Measured on one core of a small server (bench/batches.ts). */
const VALIDATED_MS = 8;
const PLAIN_MS = 0.05;
const SEAL_MS = 0.2;

/** Keys that an estimate remembers: one measurement of so many keys counts half. */
const MEMORY_KEYS = 200;

export class SuitePace {
  readonly #msPerKey = new Map<string, number>();

  /** Returns the expected time for one key, in milliseconds. */
  msPerKey(kind: KindOfKey): number {
    return this.#msPerKey.get(nameOf(kind)) ?? firstEstimate(kind);
  }

  /** Counts a measurement: `keys` keys of this kind took `ms`. */
  note(kind: KindOfKey, keys: number, ms: number): void {
    const before = this.msPerKey(kind);
    const weight = keys / (keys + MEMORY_KEYS);
    this.#msPerKey.set(nameOf(kind), before + (ms / keys - before) * weight);
  }
}

function nameOf({ order, recipient }: KindOfKey): string {
  return `${order.withEvidence} ${recipient?.suite}`;
}

function firstEstimate({ order, recipient }: KindOfKey): number {
  return (order.withEvidence ? VALIDATED_MS : PLAIN_MS) + (recipient ? SEAL_MS : 0);
}
