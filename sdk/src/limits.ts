/** Limits in the headers `RateLimit-Policy` and `RateLimit`. */

export interface Limit {
  /** Requests that fit into the window, or into the full bucket. */
  readonly limit: number;
  readonly remaining: number;
  /** Length of the window in seconds; for a bucket, the time in which an empty one fills. */
  readonly windowSeconds: number;
  /** Seconds until the limit is whole again. */
  readonly resetSeconds: number;
}

export interface Limits {
  /** The account's month; null if it is unlimited or not stated. */
  readonly quota: Limit | null;
  /** The API key's bucket on the server that responded; null if there is no rate limit or it is not stated. */
  readonly rate: Limit | null;
}

export const NO_LIMITS: Limits = { quota: null, rate: null };

/** Reads the limits from the headers of a response; undefined if it has none, as before authentication. */
export function readLimits(headers: Headers): Limits | undefined {
  const policies = readItems(headers.get('ratelimit-policy'));
  const current = readItems(headers.get('ratelimit'));
  if (current.size === 0) return undefined;
  const limit = (name: string): Limit | null => {
    const q = policies.get(name)?.get('q');
    const w = policies.get(name)?.get('w');
    const r = current.get(name)?.get('r');
    const t = current.get(name)?.get('t');
    if (q === undefined || w === undefined || r === undefined || t === undefined) return null;
    if (![q, w, r, t].every(Number.isSafeInteger)) return null;
    return { limit: q, remaining: r, windowSeconds: w, resetSeconds: t };
  };
  return { quota: limit('quota'), rate: limit('rate') };
}

/** Parses a list of `"name";a=1;b=2`: the part of RFC 9651 that the service uses. */
function readItems(header: string | null): Map<string, Map<string, number>> {
  const items = (header ?? '').matchAll(/"([a-z]+)"((?:;[a-z]+=\d+)*)/g);
  return new Map(
    [...items].map(([, name = '', parameters = '']) => [name, readParameters(parameters)]),
  );
}

function readParameters(text: string): Map<string, number> {
  const pairs = text.matchAll(/;([a-z]+)=(\d+)/g);
  return new Map([...pairs].map(([, name = '', value]) => [name, Number(value)]));
}
