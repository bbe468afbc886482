/** Reads the body of a response, up to a bound. */

/** Longest body in bytes, without compression. The longest that the service sends has some 20 MiB. */
export const LARGEST_BODY = 64 * 2 ** 20;

/** A body that is longer than the bound. What was read of it is gone. */
export class TooLargeError extends Error {}

/** Returns the body as text. Rejects with `TooLargeError` as soon as it is longer than the bound, and reads no further. */
export async function readBody(response: Response): Promise<string> {
  // A replacement of `fetch` may have no stream.
  if (!response.body || isShort(response)) return bounded(await response.text());
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > LARGEST_BODY) break;
    text += decoder.decode(value, { stream: true });
  }
  // Without this, the rest would still arrive.
  reader.cancel().catch(() => undefined);
  throw new TooLargeError();
}

/**
 * Reports whether the platform itself bounds the body by its stated length. A response of another origin does not show whether
 * it is compressed.
 */
function isShort({ type, headers }: Response): boolean {
  const length = headers.get('content-length') ?? '';
  if (type !== 'basic' || headers.has('content-encoding')) return false;
  return /^\d{1,15}$/.test(length) && Number(length) <= LARGEST_BODY;
}

function bounded(text: string): string {
  if (text.length <= LARGEST_BODY) return text;
  throw new TooLargeError();
}
