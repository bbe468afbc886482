/**
 * Requests of SKIP (draft-cisco-skip-02 §4, Table 2). Parameters that the draft does not define are refused, so that nothing
 * is silently left out.
 */
import { badRequest, RequestError } from '../listeners/answer.ts';
import { parameters, targetOf, wholeNumber } from '../listeners/request.ts';
import { KEY_SIZES, type KeySize } from '../source/key-boxes.ts';

export type SkipRequest =
  | { readonly method: 'capabilities' }
  | { readonly method: 'new-key'; readonly remote: string; readonly size: KeySize | null }
  | { readonly method: 'key'; readonly remote: string; readonly id: string }
  | { readonly method: 'entropy'; readonly bytes: number };

/** §4.3. */
const USUAL_ENTROPY_BITS = 256;
const MOST_ENTROPY_BITS = 8_192;

/** Reads a target. Throws `RequestError`. */
export function parseRequest(target: string): SkipRequest {
  const { path, query } = targetOf(target);
  if (path === '/capabilities') {
    parameters(query, []);
    return { method: 'capabilities' };
  }
  if (path === '/entropy') return { method: 'entropy', bytes: entropyBytes(query) };
  if (path === '/key') return newKey(query);
  const [, id] = /^\/key\/([^/]*)$/.exec(path) ?? [];
  if (id === undefined) throw new RequestError(404, 'there is no such resource');
  return { method: 'key', id: uuidOf(id), remote: remoteOf(parameters(query, ['remoteSystemID'])) };
}

function newKey(query: URLSearchParams): SkipRequest {
  const given = parameters(query, ['remoteSystemID', 'size']);
  const { size } = given;
  return {
    method: 'new-key',
    remote: remoteOf(given),
    size: size === undefined ? null : sizeOf(wholeNumber(size)),
  };
}

function remoteOf({ remoteSystemID: remote }: { readonly remoteSystemID?: string }): string {
  if (remote !== undefined && remote !== '') return remote;
  throw badRequest('the parameter remoteSystemID is missing');
}

function sizeOf(bits: number): KeySize {
  const size = KEY_SIZES.find((one) => one === bits);
  if (size === undefined) throw badRequest(`size shall be one of ${KEY_SIZES.join(', ')}`);
  return size;
}

function entropyBytes(query: URLSearchParams): number {
  const { minentropy = `${USUAL_ENTROPY_BITS}` } = parameters(query, ['minentropy']);
  const bits = wholeNumber(minentropy);
  if (bits >= 8 && bits <= MOST_ENTROPY_BITS && bits % 8 === 0) return bits / 8;
  throw badRequest(`minentropy shall be a multiple of 8 from 8 to ${MOST_ENTROPY_BITS}`);
}

/** §4.2.1: a keyId is hexadecimal, of 128 bits by default. */
const KEY_ID = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

function uuidOf(keyId: string): string {
  const [, ...parts] = KEY_ID.exec(keyId.toLowerCase()) ?? [];
  if (parts.length > 0) return parts.join('-');
  throw badRequest('a keyId shall be 32 hexadecimal digits');
}
