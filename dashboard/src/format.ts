/** Formats numbers and times for readers. Times are in the reader's own time zone. */

const grouped = new Intl.NumberFormat('en');

export function count(value: number): string {
  return grouped.format(value);
}

/** Returns a count with its noun: "1 key", "2 keys". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Formats a p-value with four decimals; one that would round to 0 gets an exponent. */
export function pValue(p: number): string {
  return p > 0 && p < 0.00005 ? p.toExponential(1) : p.toFixed(4);
}

/** Rounds to three significant digits, which leaves the marks of an axis, such as 12.5, unchanged. */
function threeDigits(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Formats milliseconds, as seconds from 1,000 on, with at most three significant digits. */
export function milliseconds(ms: number): string {
  return ms >= 1000 ? `${threeDigits(ms / 1000)} s` : `${threeDigits(ms)} ms`;
}

/** Formats a share as a percentage with at most two decimals. Nothing rounds to 0 % or 100 %. */
export function percent(share: number): string {
  if (share === 0 || share === 1) return `${share * 100}\u00a0%`;
  const rounded = Math.min(99.99, Math.max(0.01, share * 100));
  return `${Number(rounded.toFixed(2))}\u00a0%`;
}

/** Formats a rate per second with at most three significant digits; below 10⁻⁶ with an exponent. */
export function rate(value: number): string {
  return value >= 1000 ? count(Math.round(value)) : threeDigits(value);
}

const dayAndTime = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});

const clockTime = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

const dayAlone = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });

export function date(time: number | string): string {
  return dayAlone.format(new Date(time));
}

export function dateTime(time: number | string): string {
  return dayAndTime.format(new Date(time));
}

export function timeOfDay(time: number | string): string {
  return clockTime.format(new Date(time));
}

/** Formats a time span in one unit, rounded down: "40 s", "12 min", "3 h", "5 d", "2 y". */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  const days = Math.floor(seconds / 86_400);
  return days < 730 ? `${days} d` : `${Math.floor(days / 365)} y`;
}

/** Formats a time span in its largest units, with days rounded up: "9 days", "3 h 20 min", "45 s". */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole >= 172_800) return plural(Math.ceil(whole / 86_400), 'day');
  if (whole >= 3600) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  if (whole >= 60) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${whole} s`;
}
