/** Canonical JSON: RFC 8785, JSON Canonicalization Scheme (JCS), https://www.rfc-editor.org/rfc/rfc8785. */

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [name: string]: JsonValue };

/**
 * Returns the canonical form of `value`. Throws `TypeError` on what JSON cannot express: numbers that are
 * not finite, lone surrogates, `undefined`, and anything else that is not JSON.
 */
export function canonicalJson(value: JsonValue): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return canonicalNumber(value);
  if (typeof value === 'string') return canonicalString(value);
  if (isArray(value)) return `[${Array.from(value, canonicalJson).join(',')}]`;
  if (typeof value !== 'object') {
    throw new TypeError(`"value" expected JSON, got ${typeof value}`);
  }
  // §3.2.3: members in the order of their names' UTF-16 code units, which is the order of `sort`.
  const members = Object.keys(value)
    .sort()
    .map((name) => `${canonicalString(name)}:${canonicalJson(value[name] as JsonValue)}`);
  return `{${members.join(',')}}`;
}

/** `Array.isArray`, with a type that knows read-only arrays. */
function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** §3.2.2.3: ECMAScript's own form of numbers; negative zero is `0`. */
function canonicalNumber(value: number): string {
  if (!Number.isFinite(value))
    throw new TypeError(`"value" expected a finite number, got ${value}`);
  return JSON.stringify(value);
}

/** §3.2.2.2: ECMAScript's own form of strings. It would escape a lone surrogate, which the RFC refuses. */
function canonicalString(value: string): string {
  if (/\p{Surrogate}/u.test(value)) {
    throw new TypeError(`"value" expected Unicode text, got a lone surrogate`);
  }
  return JSON.stringify(value);
}
