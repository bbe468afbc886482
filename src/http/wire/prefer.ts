/** The preference `handling` of a request (RFC 7240 §4.4): refuse unknown fields, or ignore them. */
import type { IncomingHttpHeaders } from 'node:http';

type Handling = 'strict' | 'lenient';

// RFC 9110 §5.6.2 and §5.6.4.
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;

/** Parts between commas or semicolons outside quotes. */
const BETWEEN_COMMAS = /(?:[^",]|"(?:[^"\\]|\\.)*"?)+/g;
const UP_TO_SEMICOLON = /^(?:[^";]|"(?:[^"\\]|\\.)*"?)+/;
/** A preference without space at its ends. If two parts of a pattern could match the same space, the time would be quadratic. */
const PREFERENCE = new RegExp(`^(${TOKEN})(?:[ \\t]*=[ \\t]*(${TOKEN}|${QUOTED})?)?$`);

/**
 * Returns the handling in a `Prefer` header, or undefined. Only the first instance of a preference counts (§2).
 * Node joins repeated headers with commas, in order.
 */
export function requestedHandling(header: string | string[] | undefined): Handling | undefined {
  if (header === undefined) return undefined;
  for (const [element] of String(header).matchAll(BETWEEN_COMMAS)) {
    const [preference = ''] = UP_TO_SEMICOLON.exec(element) ?? [];
    const [, name = '', word = ''] = PREFERENCE.exec(preference.trim()) ?? [];
    if (name.toLowerCase() !== 'handling') continue;
    const value = unquote(word).toLowerCase();
    return value === 'strict' || value === 'lenient' ? value : undefined;
  }
  return undefined;
}

/** Returns `Preference-Applied` (RFC 7240 §3) if the request sets a handling. */
export function preferenceHeaders({ prefer }: IncomingHttpHeaders): Record<string, string> {
  const handling = requestedHandling(prefer);
  return handling === undefined ? {} : { 'preference-applied': `handling=${handling}` };
}

function unquote(word: string): string {
  return word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/g, '$1') : word;
}
