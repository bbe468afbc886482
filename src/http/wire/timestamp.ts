/** Times in requests. */

/** A date-time with its offset (RFC 3339 §5.6). */
const DATE_TIME =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Returns milliseconds since the epoch; undefined if the text is no date-time before the year 10000, UTC. */
export function parseTimestamp(text: string): number | undefined {
  const day = DATE_TIME.exec(text)?.[1];
  // `Date.parse` reads February 30 as March 2.
  if (day === undefined || !new Date(`${day}T00:00Z`).toISOString().startsWith(day))
    return undefined;
  const epochMs = Date.parse(text.toUpperCase());
  return epochMs < Date.UTC(10_000, 0) ? epochMs : undefined;
}
