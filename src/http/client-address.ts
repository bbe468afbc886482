/** The client's address: the log names it, and what is limited by address is counted by it. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { ProxyRange } from '../config/index.ts';

/** Proxies in a row that are followed; whoever is behind more is logged as the last of them. */
const MAX_PROXIES = 16;

/** The longest text of an IPv6 address. */
const MAX_ADDRESS_LENGTH = 45;

/** An entry may carry a port, IPv6 in brackets then. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d{1,5})?|([^:]+):\d{1,5})$/;

/** An IPv4 client of a listener that takes both families. */
const MAPPED_IPV4 = /^::ffff:(?=\d+\.)/i;

/** Gives the client's address of a request; undefined when the connection is gone already. */
export type ClientAddress = (
  request: Pick<IncomingMessage, 'socket' | 'headers'>,
) => string | undefined;

/**
 * Without proxies it is the peer's. Of a trusted peer `X-Forwarded-For` is read from its end, where
 * the nearest proxy wrote: the client is the first address that is not a trusted proxy itself. What
 * stands before it, and anything that is not an address, may have been sent by the client and is
 * not believed.
 */
export function clientAddress(proxies: readonly ProxyRange[]): ClientAddress {
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

/** The address of the connection itself: of what was refused before its headers could be believed, or came before them. */
export const peerAddress: ClientAddress = clientAddress([]);

/**
 * What an address is counted by: IPv4 as it is, of IPv6 the first 64 bits, since a single client commonly
 * has as many addresses as it likes within them.
 */
export function addressBlock(address: string | undefined): string {
  if (address === undefined || isIPv4(address)) return address ?? 'unknown';
  const [before = '', after] = address.split('::');
  const groups = before === '' ? [] : before.split(':');
  const last = after ? after.split(':') : [];
  // Zeros are left out once at most. The dotted end that some addresses have stands for two groups.
  const length = groups.length + last.length + Number(address.includes('.'));
  const zeros = Array.from({ length: after === undefined ? 0 : 8 - length }, () => '0');
  const first = [...groups, ...zeros, ...last].slice(0, 4);
  return `${first.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** The bare address of a text that is one, perhaps with a port; undefined for any other text. */
function toAddress(text: string): string | undefined {
  const [, bracketed, beforePort] = WITH_PORT.exec(text) ?? [];
  const bare = bracketed ?? beforePort ?? text;
  const address = (bare.split('%', 1)[0] ?? '').replace(MAPPED_IPV4, '');
  return address.length <= MAX_ADDRESS_LENGTH && isIP(address) !== 0 ? address : undefined;
}
