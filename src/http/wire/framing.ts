/**
 * Checks what HTTP/1.1 requires of every request (RFC 9112 §3.2, §6.1; RFC 9110 §7.2, §10.1.1): its target, its
 * Host, the coding of its body, and its expectation.
 */
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';

/** A request target in absolute form. Its authority may be malformed. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)(.*)$/i;

/** RFC 3986 §3.2.2: an address in brackets, or a name; then a port, which may be empty. */
const HOST = /^(?:\[([0-9a-f:.]+)\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+)(?::(\d{0,5}))?$/i;
const MAX_PORT = 65_535;

const ONE_HOST = 'The request must have exactly one Host header.';

/** `Allow` for `OPTIONS *`. */
const SERVER_METHODS = 'GET, HEAD, OPTIONS, POST';

/** Requests whose clients wait for 100 (Continue) before they send the body. */
const expectant = new WeakSet<IncomingMessage>();

/**
 * Returns the request target in origin form. If it is in absolute form, its host replaces the Host header, which
 * must then be ignored (RFC 9112 §3.2.2), so later readers of the Host see the right one.
 */
export function toOriginForm(request: IncomingMessage): string {
  const { url = '' } = request;
  const [, authority, rest = ''] = ABSOLUTE_FORM.exec(url) ?? [];
  if (authority === undefined) return url;
  request.headers.host = authority;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Throws an error if the request is malformed; answers `OPTIONS *`. */
export function checkFraming({ raw, url }: FastifyRequest, reply: FastifyReply): void {
  const { httpVersion } = raw;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    reply.header('connection', 'close');
    // Node reads a request line without a version as 0.9.
    if (httpVersion === '0.9') throw malformed('The request line names no HTTP version.');
    throw new AppError('http_version_not_supported');
  }
  checkHost(raw);
  refuseCodings(raw, reply);
  if (url === '*' && raw.method === 'OPTIONS') {
    reply.code(204).header('allow', SERVER_METHODS).send();
  } else if (!url.startsWith('/') || url.includes('#')) {
    throw malformed(
      'The request target must be a path, or an http or https URL, without a fragment.',
    );
  }
}

/** Checks the Host header, and the authority of a target in absolute form, which `toOriginForm` has put in its place. */
function checkHost({ rawHeaders, headers: { host }, httpVersion }: IncomingMessage): void {
  let given: string | undefined;
  // Raw headers alternate names and values and include repeated ones. This loop runs for every request, so it creates no arrays.
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length !== 4 || rawHeaders[i]?.toLowerCase() !== 'host') continue;
    if (given !== undefined) throw malformed(ONE_HOST);
    given = rawHeaders[i + 1];
  }
  if (given === undefined && httpVersion === '1.1') throw malformed(ONE_HOST);
  const isWrong = given !== undefined && !isHost(given);
  if (isWrong || (host !== undefined && host !== given && !isHost(host))) {
    throw malformed('The Host is not well-formed.');
  }
}

/** Refuses a body with an unknown coding: its end is unknown, so the connection closes. */
function refuseCodings({ headers, httpVersion }: IncomingMessage, reply: FastifyReply): void {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return;
  if (httpVersion === '1.0') {
    reply.header('connection', 'close');
    throw malformed('HTTP/1.0 has no Transfer-Encoding.');
  }
  if (coding.toLowerCase() === 'chunked') return;
  reply.header('connection', 'close');
  throw new AppError('unsupported_transfer_encoding');
}

/** Notes that a client waits for 100 (Continue). Returns false if it expects anything else. */
export function noteExpectation(request: IncomingMessage): boolean {
  const expectations = request.headers.expect?.split(',') ?? [];
  if (expectations.some((one) => one.trim().toLowerCase() !== '100-continue')) return false;
  expectant.add(request);
  return true;
}

/**
 * Sends 100 (Continue) to a client that waits for it, if the body is at most `limitBytes` long. The caller has
 * checked the API key. After a final response without 100 (Continue), Node closes the connection.
 */
export function tellToContinue({ raw }: FastifyRequest, reply: FastifyReply, limitBytes: number) {
  if (raw.headers.expect === undefined || !expectant.delete(raw)) return;
  const { 'content-length': length, 'transfer-encoding': coding } = raw.headers;
  const isWanted = length === undefined ? coding !== undefined : Number(length) <= limitBytes;
  if (isWanted && length !== '0') reply.raw.writeContinue();
}

function isHost(text: string): boolean {
  const [whole, bracketed, port] = HOST.exec(text) ?? [];
  if (whole === undefined || Number(port ?? 0) > MAX_PORT) return false;
  return bracketed === undefined || isIPv6(bracketed);
}

function malformed(detail: string): AppError {
  return new AppError('malformed_request', { detail });
}
