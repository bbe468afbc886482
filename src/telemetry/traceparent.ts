/** W3C Trace Context: the header that names the trace of a request. */

interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly flags: number;
}

/** Version, trace, parent, flags, and the fields that versions after 00 may add. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[!-~]{0,200})?$/;

/** Reads the header. Returns undefined if it is missing, malformed or repeated. */
export function parseTraceparent(header: string | string[] | undefined): TraceParent | undefined {
  const match = typeof header === 'string' ? TRACEPARENT.exec(header) : null;
  if (!match) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = match;
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}
