/** The client's address, for the log and for limits by address. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { AddressRange } from '../config/index.ts';

/** Most proxies to follow. A client behind more is logged with the address of the last one. */
const MAX_PROXIES = 16;

/** Length of the longest text form of an IPv6 address. */
const MAX_ADDRESS_LENGTH = 45;

/** An entry with a port. IPv6 is then in brackets. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d{1,5})?|([^:]+):\d{1,5})$/;

/** Prefix of an IPv4 client at a dual-stack listener. */
const MAPPED_IPV4 = /^::ffff:(?=\d+\.)/i;

/** Returns the client's address of a request; undefined if the connection has closed. */
export type ClientAddress = (
  request: Pick<IncomingMessage, 'socket' | 'headers'>,
) => string | undefined;

/**
 * Returns a function that finds the client's address. Without trusted proxies it is the peer's address. If the peer is
 * a trusted proxy, `X-Forwarded-For` is read from right to left: the client is the first address that is not a trusted
 * proxy. The client may have sent everything to the left of it, and anything that is not an address, so both are ignored.
 */
export function clientAddress(proxies: readonly AddressRange[]): ClientAddress {
  const trusted = new BlockList();
  for (const { address, prefix, family } of proxies) trusted.addSubnet(address, prefix, family);
  const isTrusted = (address: string) => trusted.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  return ({ socket, headers }) => {
    const peer = toAddress(socket.remoteAddress ?? '');
    if (peer === undefined || proxies.length === 0) return peer;
    // Node joins repeated headers with a comma.
    const forwarded = String(headers['x-forwarded-for'] ?? '');
    let client = peer;
    let end = forwarded.length;
    for (let i = 0; i < MAX_PROXIES && end > 0 && isTrusted(client); i++) {
      const start = forwarded.lastIndexOf(',', end - 1) + 1;
      const before = toAddress(forwarded.slice(start, end).trim());
      if (before === undefined) break;
      client = before;
      end = start - 1;
    }
    return client;
  };
}

/** The address of the connection itself, for requests that were refused before their headers could be trusted. */
export const peerAddress: ClientAddress = clientAddress([]);

/**
 * Returns the key that an address is counted by: an IPv4 address itself, or the first 64 bits of an IPv6 address,
 * because a single client usually has a whole /64.
 */
export function addressBlock(address: string | undefined): string {
  if (address === undefined || isIPv4(address)) return address ?? 'unknown';
  const [before = '', after] = address.split('::');
  const groups = before === '' ? [] : before.split(':');
  const last = after ? after.split(':') : [];
  // Zeros are omitted at most once. A dotted end counts as two groups.
  const length = groups.length + last.length + Number(address.includes('.'));
  const zeros = Array.from({ length: after === undefined ? 0 : 8 - length }, () => '0');
  const first = [...groups, ...zeros, ...last].slice(0, 4);
  return `${first.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** Returns the bare address in a text, which may have a port; undefined if the text is not an address. */
function toAddress(text: string): string | undefined {
  // Nearly every peer. The patterns below would take 0.1 µs.
  if (isIPv4(text)) return text;
  const [, bracketed, beforePort] = WITH_PORT.exec(text) ?? [];
  const bare = bracketed ?? beforePort ?? text;
  const address = (bare.split('%', 1)[0] ?? '').replace(MAPPED_IPV4, '');
  return address.length <= MAX_ADDRESS_LENGTH && isIP(address) !== 0 ? address : undefined;
}
