/** Compares each account's monthly counters with its sums by hour, which arrive account by account. */

import { HOUR_MS } from '../../clock.ts';
import type { Value } from '../tables.ts';
import { CLOCK_REMEDY, type FindingKind, type Findings } from './findings.ts';

const WRONG_MONTH: FindingKind = {
  problem: 'usage: the counter of a month does not equal the metered requests of its hours',
  remedy: CLOCK_REMEDY,
};

/** The metered requests of one month, from the sums by hour. */
interface Month {
  metered: number;
  /**
   * Requests of its first and last hour. A server's clock may place a request in another hour than the
   * database's clock.
   */
  atStart: number;
  atEnd: number;
}

export class MonthChecks {
  readonly #findings: Findings;
  /** Counters by account and month. */
  readonly #used = new Map<string, Map<number, number>>();
  #account = '';
  #months = new Map<number, Month>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  addCounter([accountId, month, used]: readonly Value[]): void {
    const counters = this.#used.get(String(accountId)) ?? new Map<number, number>();
    counters.set(Number(month), Number(used));
    this.#used.set(String(accountId), counters);
  }

  /** Adds a sum by hour. All sums of one account must come together. */
  addHour(accountId: string, hour: number, metered: number): void {
    if (accountId !== this.#account) this.end();
    this.#account = accountId;
    const number = monthOf(hour);
    const month = this.#months.get(number) ?? { metered: 0, atStart: 0, atEnd: 0 };
    month.metered += metered;
    if (monthOf(hour - 1) !== number) month.atStart += metered;
    if (monthOf(hour + 1) !== number) month.atEnd += metered;
    this.#months.set(number, month);
  }

  /** Checks the account whose hours came last. */
  end(): void {
    const counters = this.#used.get(this.#account) ?? new Map<number, number>();
    for (const number of new Set([...counters.keys(), ...this.#months.keys()])) {
      const { metered = 0, atStart = 0, atEnd = 0 } = this.#months.get(number) ?? {};
      const atEdges =
        atStart +
        atEnd +
        (this.#months.get(number - 1)?.atEnd ?? 0) +
        (this.#months.get(number + 1)?.atStart ?? 0);
      if (Math.abs((counters.get(number) ?? 0) - metered) <= atEdges) continue;
      this.#findings.add(WRONG_MONTH, `${this.#account} month ${number}`);
    }
    this.#months = new Map();
  }
}

/** Months since year 0, as `usage` counts them. */
function monthOf(hour: number): number {
  const date = new Date(hour * HOUR_MS);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
