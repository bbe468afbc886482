/** Requests of systems: what an interface gets from its listener, and what all interfaces read alike. */
import { badRequest, RequestError } from './answer.ts';

export interface SystemRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Name of the calling system, as its certificate or its pre-shared key has it; null if that names none. */
  readonly caller: string | null;
  /** Resolves with the body. Rejects with `RequestError` if it is too long. */
  readonly body: () => Promise<string>;
}

/** Splits a target. */
export function targetOf(target: string): {
  readonly path: string;
  readonly query: URLSearchParams;
} {
  const end = target.indexOf('?');
  return end === -1
    ? { path: target, query: new URLSearchParams() }
    : { path: target.slice(0, end), query: new URLSearchParams(target.slice(end + 1)) };
}

/** Throws `RequestError` for another method. */
export function requireMethod(method: string, allowed: readonly string[]): void {
  if (allowed.includes(method)) return;
  const headers = { Allow: allowed.join(', ') };
  throw new RequestError(405, `use ${allowed.join(' or ')}`, { headers });
}

/** Reads the query of a GET: each parameter once at most, and only these. Throws `RequestError`. */
export function parameters<Name extends string>(
  query: URLSearchParams,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  for (const [given, value] of query) {
    const name = names.find((one) => one === given);
    if (name === undefined) throw badRequest(`there is no parameter ${JSON.stringify(given)}`);
    if (found[name] !== undefined) throw badRequest(`the parameter ${name} is there twice`);
    found[name] = value;
  }
  return found;
}

/** Returns NaN for what is no whole number in decimal digits. */
export const wholeNumber = (text: string): number =>
  /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN;
