/** Numbers and times as people read them. Times are the reader's own, with the zone named where it matters. */

const grouped = new Intl.NumberFormat('en');

export function count(value: number): string {
  return grouped.format(value);
}

/** "1 key", "2 keys". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A p-value, four decimals; what rounds to zero says so. */
export function pValue(p: number): string {
  return p > 0 && p < 0.00005 ? p.toExponential(1) : p.toFixed(4);
}

/** At most three significant digits: the marks of an axis, such as 12.5, stay what they are. */
function threeDigits(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Milliseconds, or seconds from 1,000 on, with three significant digits at most. */
export function milliseconds(ms: number): string {
  return ms >= 1000 ? `${threeDigits(ms / 1000)} s` : `${threeDigits(ms)} ms`;
}

/** A share as a percentage, two decimals at most; nothing rounds to 0 % or 100 %. */
export function percent(share: number): string {
  if (share === 0 || share === 1) return `${share * 100}\u00a0%`;
  const rounded = Math.min(99.99, Math.max(0.01, share * 100));
  return `${Number(rounded.toFixed(2))}\u00a0%`;
}

/** A rate a second, with three significant digits at most; one beneath 10⁻⁶ has an exponent. */
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

/** How long until then, in its largest units, rounded up from days on: "9 days", "3 h 20 min", "45 s". */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole >= 172_800) return plural(Math.ceil(whole / 86_400), 'day');
  if (whole >= 3600) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  if (whole >= 60) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${whole} s`;
}
