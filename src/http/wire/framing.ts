/**
 * What HTTP/1.1 asks of every request before anything in it is believed (RFC 9112 §3.2, §6.1; RFC 9110 §7.2,
 * §10.1.1): its target, its Host, the coding of its body, and the expectation that it waits for.
 */
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';

/** A target in absolute form. Its authority may be malformed. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)(.*)$/i;

/** RFC 3986 §3.2.2: an address in brackets, or a name; then a port, which may be empty. */
const HOST = /^(?:\[([0-9a-f:.]+)\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+)(?::(\d{0,5}))?$/i;
const MAX_PORT = 65_535;

/** For OPTIONS about the server as a whole. */
const SERVER_METHODS = 'GET, HEAD, OPTIONS, POST';

/** Requests whose clients wait for 100 (Continue) before they send a body. */
const expectant = new WeakSet<IncomingMessage>();

/**
 * The target in origin form. The host of a target in absolute form takes the place of the Host header, which
 * must be ignored then (RFC 9112 §3.2.2): all that asks for the host of a request sees it.
 */
export function toOriginForm(request: IncomingMessage): string {
  const { url = '' } = request;
  const [, authority, rest = ''] = ABSOLUTE_FORM.exec(url) ?? [];
  if (authority === undefined) return url;
  request.headers.host = authority;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Throws what is wrong with a request, or answers one that is about no resource. */
export function checkFraming({ raw, url }: FastifyRequest, reply: FastifyReply): void {
  if (!/^1\.[01]$/.test(raw.httpVersion)) {
    reply.header('connection', 'close');
    throw malformed('The version of HTTP is neither 1.1 nor 1.0.');
  }
  const given = hostsOf(raw.rawHeaders);
  const isHostMissing = given.length === 0 && raw.httpVersion === '1.1';
  if (isHostMissing || given.length > 1) throw malformed('Exactly one Host header is needed.');
  for (const host of [...given, raw.headers.host ?? given[0]]) {
    if (host !== undefined && !isHost(host)) throw malformed('The host is not well-formed.');
  }
  refuseCodings(raw, reply);
  if (url === '*' && raw.method === 'OPTIONS') {
    reply.code(204).header('allow', SERVER_METHODS).send();
  } else if (!url.startsWith('/') || url.includes('#')) {
    throw malformed('The target must be a path, or an http or https address, without a fragment.');
  }
}

/** What cannot be decoded is not read on: where its body ends is not known. */
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

/** Notes that a client waits for 100 (Continue). False when it expects something else as well. */
export function noteExpectation(request: IncomingMessage): boolean {
  const expectations = request.headers.expect?.split(',') ?? [];
  if (expectations.some((one) => one.trim().toLowerCase() !== '100-continue')) return false;
  expectant.add(request);
  return true;
}

/**
 * Tells a client that waits to go on with a body of at most `limitBytes`; a longer one is refused unread. The
 * caller has let the request in. After an answer without it Node closes the connection.
 */
export function tellToContinue({ raw }: FastifyRequest, reply: FastifyReply, limitBytes: number) {
  if (!expectant.delete(raw)) return;
  const { 'content-length': length, 'transfer-encoding': coding } = raw.headers;
  const isWanted = length === undefined ? coding !== undefined : Number(length) <= limitBytes;
  if (isWanted && length !== '0') reply.raw.writeContinue();
}

/** Raw headers alternate name and value, with repeated ones as they came. */
function hostsOf(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === 'host');
}

function isHost(text: string): boolean {
  const [whole, bracketed, port] = HOST.exec(text) ?? [];
  if (whole === undefined || Number(port ?? 0) > MAX_PORT) return false;
  return bracketed === undefined || isIPv6(bracketed);
}

function malformed(detail: string): AppError {
  return new AppError('malformed_request', { detail });
}
