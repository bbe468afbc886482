/** Measured pace of the suite workers: milliseconds of work for one key, by kind of key. */
import { monotonicMs } from '../../clock.ts';
import type { KeyOrder, Recipient } from '../../keys/order.ts';
import { SUITE_LIMIT_MS } from './limit.ts';

/** What the time for a key depends on. */
interface KindOfKey {
  readonly order: Pick<KeyOrder, 'withEvidence'>;
  readonly recipients: readonly Pick<Recipient, 'suite'>[];
}

/** First estimates, in milliseconds a key. Measured on one core of a small server (bench/batches.ts). */
const VALIDATED_MS = 8;
const PLAIN_MS = 0.05;
const SEAL_MS = 0.2;

/** Keys that an estimate remembers: one measurement of so many keys counts half. */
const MEMORY_KEYS = 200;

/**
 * An estimate above the first one that is not measured for this time loses half of what it has more, and so on each time. A
 * spell in which the machine was busy would otherwise keep large batches out for ever: keys that are refused are not measured.
 */
const HALF_LIFE_MS = SUITE_LIMIT_MS;

interface Estimate {
  readonly msPerKey: number;
  readonly atMs: number;
}

export class SuitePace {
  readonly #last = new Map<string, Estimate>();

  /** Returns the expected time for one key, in milliseconds. */
  msPerKey(kind: KindOfKey): number {
    const first = firstEstimate(kind);
    const last = this.#last.get(nameOf(kind));
    if (!last || last.msPerKey <= first) return last?.msPerKey ?? first;
    const halvings = Math.floor((monotonicMs() - last.atMs) / HALF_LIFE_MS);
    return first + (last.msPerKey - first) * 2 ** -halvings;
  }

  /** Counts a measurement: `keys` keys of this kind took `ms`. */
  note(kind: KindOfKey, keys: number, ms: number): void {
    const before = this.msPerKey(kind);
    const weight = keys / (keys + MEMORY_KEYS);
    const msPerKey = before + (ms / keys - before) * weight;
    this.#last.set(nameOf(kind), { msPerKey, atMs: monotonicMs() });
  }
}

/** Of eight recipients in any order, two suites make few kinds. */
function nameOf({ order, recipients }: KindOfKey): string {
  const suites = recipients.map(({ suite }) => suite).sort();
  return `${order.withEvidence} ${suites.join(' ')}`;
}

function firstEstimate({ order, recipients }: KindOfKey): number {
  return (order.withEvidence ? VALIDATED_MS : PLAIN_MS) + recipients.length * SEAL_MS;
}
