/** Labels and expiry of a new key, as the reader enters them and as the service takes them. */
import { givenLabels, type Label, labelsProblem } from '../labels.ts';

/** When the use of a key ends: after a number of days, at a time that the reader enters, or never. */
export interface Ends {
  readonly labels: readonly Label[];
  /** Empty: never. `at`: at `expiresAt`. Otherwise a number of days. */
  readonly expiry: string;
  /** As the field has it: in the reader's time zone, without an offset. */
  readonly expiresAt: string;
}

export const NO_ENDS: Ends = { labels: [], expiry: '', expiresAt: '' };

const DAY_MS = 86_400_000;

/** Returns the expiry in milliseconds since the epoch; undefined without one, NaN if the field has no time. */
function expiryMs({ expiry, expiresAt }: Ends, nowMs: number): number | undefined {
  if (expiry === '') return undefined;
  return expiry === 'at' ? Date.parse(expiresAt) : nowMs + Number(expiry) * DAY_MS;
}

/** Returns both as fields of a request. */
export function endFields(
  ends: Ends,
  nowMs: number,
): { labels?: Record<string, string>; expires_at?: string } {
  const labels = givenLabels(ends.labels);
  const atMs = expiryMs(ends, nowMs);
  return {
    ...(labels.length > 0 && {
      labels: Object.fromEntries(labels.map(({ name, value }) => [name, value])),
    }),
    // The field of a time may still be empty while the code of the request is shown.
    ...(atMs !== undefined && !Number.isNaN(atMs) && { expires_at: new Date(atMs).toISOString() }),
  };
}

export interface EndsProblems {
  readonly labels?: string | undefined;
  readonly expiry?: string | undefined;
}

/** Returns what is wrong with them. */
export function endsProblems(ends: Ends, nowMs: number): EndsProblems {
  const atMs = expiryMs(ends, nowMs);
  const isPast = atMs !== undefined && !(atMs > nowMs);
  return {
    labels: labelsProblem(givenLabels(ends.labels)),
    expiry: isPast ? 'Enter a time in the future.' : undefined,
  };
}
