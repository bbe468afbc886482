/**
 * The plans of accounts: the three published ones, changed and extended by the file in `PHM_PLANS_FILE`.
 *
 * Problems name the file, the path of the member in it, what was expected and what came.
 */
import { printable, Reader } from './reader.ts';

/** The limits of an account. */
export interface Plan {
  readonly label: string;
  /** Metered requests per UTC calendar month; null is unlimited. */
  readonly monthlyQuota: number | null;
  /** Sustained requests per second, per API key and replica. */
  readonly ratePerSecond: number;
  /** Requests allowed at once after a pause, per API key and replica. */
  readonly burst: number;
}

/** Plans by name. The published ones come first. */
export type Plans = ReadonlyMap<string, Plan>;

/** The interface specification sets the monthly quotas. */
export const PUBLISHED_PLANS: Plans = new Map([
  ['research', { label: 'Research', monthlyQuota: 1_000, ratePerSecond: 10, burst: 20 }],
  [
    'professional',
    { label: 'Professional', monthlyQuota: 100_000, ratePerSecond: 100, burst: 200 },
  ],
  ['enterprise', { label: 'Enterprise', monthlyQuota: null, ratePerSecond: 1_000, burst: 2_000 }],
]);

const PLAN_NAME = /^[a-z][a-z0-9_-]{0,31}$/;
const MAX_PLANS = 100;
const MAX_LABEL = 60;
const MAX_QUOTA = 1_000_000_000_000;
const MIN_RATE = 0.001;
const MAX_RATE = 1_000_000;
const MAX_SHOWN = 24;

type Json = Readonly<Record<string, unknown>>;

/** Returns the monthly quota of each plan, as the ledger takes it. */
export function monthlyQuotas(plans: Plans): Readonly<Record<string, number | null>> {
  return Object.fromEntries([...plans].map(([name, { monthlyQuota }]) => [name, monthlyQuota]));
}

/** Reads the plans. Returns the published ones if the file is unusable; the problems then say why. */
export function readPlans(reader: Reader): Plans {
  if (!reader.text('PHM_PLANS_FILE')) return PUBLISHED_PLANS;
  const text = reader.fileText('PHM_PLANS_FILE');
  if (text === null) return PUBLISHED_PLANS;
  const where = `PHM_PLANS_FILE (${reader.text('PHM_PLANS_FILE')})`;
  return parsePlans(text, (problem) => reader.problems.push(`${where}: ${problem}`));
}

/** Returns the names of the plans of an environment; null if their file is unusable. */
export function readPlanNames(
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] | null {
  const reader = new Reader(env, []);
  const plans = readPlans(reader);
  return reader.problems.length === 0 ? [...plans.keys()] : null;
}

/** Returns the published plans with those of the text of a file. Reports each problem and leaves its member out. */
function parsePlans(text: string, report: (problem: string) => void): Plans {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    report(`is not valid JSON: ${(error as Error).message.replace(/\p{Cc}/gu, ' ')}`);
    return PUBLISHED_PLANS;
  }
  const top = new Members('', value, report);
  top.refuseUnknown(['plans']);
  const given = Object.entries(top.object('plans'));
  const plans = new Map(PUBLISHED_PLANS);
  for (const [name, one] of given) {
    if (PLAN_NAME.test(name)) plans.set(name, readPlan(name, one, report));
    else {
      report(
        `plans: expected names of lower-case letters, digits, "_" and "-" that start with a letter, ` +
          `1 to 32 characters, got "${printable(name)}"`,
      );
    }
  }
  if (plans.size > MAX_PLANS) {
    report(`plans: expected at most ${MAX_PLANS} with the published ones, got ${plans.size}`);
  }
  return plans;
}

/** Reads one plan. A published one keeps its figures where the file has none. */
function readPlan(name: string, value: unknown, report: (problem: string) => void): Plan {
  const base = PUBLISHED_PLANS.get(name);
  const plan = new Members(`plans.${name}`, value, report);
  plan.refuseUnknown(['label', 'monthly_quota', 'requests_per_second', 'burst']);
  return {
    label: plan.label('label', base?.label),
    monthlyQuota: plan.quota('monthly_quota', base?.monthlyQuota),
    ratePerSecond: plan.number('requests_per_second', MIN_RATE, MAX_RATE, base?.ratePerSecond),
    burst: plan.integer('burst', 1, MAX_RATE, base?.burst),
  };
}

/** Reads the members of one object. A missing one has its default; without a default it is a problem. */
class Members {
  readonly #path: string;
  readonly #value: Json;
  readonly #report: (problem: string) => void;
  readonly #isObject: boolean;

  constructor(path: string, value: unknown, report: (problem: string) => void) {
    this.#path = path;
    this.#report = report;
    this.#isObject = isObject(value);
    this.#value = isObject(value) ? value : {};
    if (!this.#isObject) report(`${path || 'the file'}: expected an object, got ${shown(value)}`);
  }

  refuseUnknown(known: readonly string[]): void {
    for (const name of Object.keys(this.#value)) {
      if (known.includes(name)) continue;
      this.#report(
        `${this.#pathOf(printable(name))}: expected only the members ${known.join(', ')}`,
      );
    }
  }

  object(name: string): Json {
    return this.#read(name, 'an object', isObject, undefined, {});
  }

  label(name: string, base: string | undefined): string {
    const isLabel = (value: unknown): value is string =>
      typeof value === 'string' &&
      value.trim() === value &&
      value.length >= 1 &&
      value.length <= MAX_LABEL &&
      !/\p{Cc}/u.test(value);
    const expected = `1 to ${MAX_LABEL} printable characters without spaces at the ends`;
    return this.#read(name, expected, isLabel, base, '');
  }

  quota(name: string, base: number | null | undefined): number | null {
    const isQuota = (value: unknown): value is number | null =>
      value === null || isInteger(value, 0, MAX_QUOTA);
    const expected = `a whole number from 0 to ${MAX_QUOTA}, or null for unlimited`;
    return this.#read(name, expected, isQuota, base, null);
  }

  number(name: string, min: number, max: number, base: number | undefined): number {
    const fits = (value: unknown): value is number =>
      typeof value === 'number' && value >= min && value <= max;
    return this.#read(name, `a number from ${min} to ${max}`, fits, base, min);
  }

  integer(name: string, min: number, max: number, base: number | undefined): number {
    const fits = (value: unknown): value is number => isInteger(value, min, max);
    return this.#read(name, `a whole number from ${min} to ${max}`, fits, base, min);
  }

  #read<T>(
    name: string,
    expected: string,
    fits: (value: unknown) => value is T,
    base: T | undefined,
    otherwise: T,
  ): T {
    const value = Object.hasOwn(this.#value, name) ? this.#value[name] : base;
    if (value !== undefined && fits(value)) return value;
    // An object that is none has been reported already.
    if (this.#isObject) {
      this.#report(`${this.#pathOf(name)}: expected ${expected}, got ${shown(value)}`);
    }
    return otherwise;
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isInteger(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

/** Returns the start of a value: the variable may name a file with a secret. */
function shown(value: unknown): string {
  return value === undefined ? 'nothing' : printable(JSON.stringify(value)).slice(0, MAX_SHOWN);
}
