/** Ranges of IP addresses, as operators write them. */
import { isIP, isIPv4 } from 'node:net';

/** A network: its address and prefix length. A single address has the full length. */
export interface AddressRange {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Reads an address or a network with a prefix of at least 1; returns undefined if the text is neither. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const [address = '', prefixText, ...rest] = text.split('/');
  // An address with a zone is valid on one interface of one machine only.
  if (!isIP(address) || address.includes('%') || rest.length > 0) return undefined;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const bits = family === 'ipv4' ? 32 : 128;
  if (prefixText === undefined) return { address, prefix: bits, family };
  const prefix = /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : 0;
  return prefix >= 1 && prefix <= bits ? { address, prefix, family } : undefined;
}

/** Reports whether the address is the first of its range: all bits after the prefix are 0. */
export function isFirstAddress({ address, prefix, family }: AddressRange): boolean {
  const bits =
    family === 'ipv4' ? bitsOf(address.split('.'), 10, 8) : bitsOf(groupsOf(address), 16, 16);
  return bits.lastIndexOf('1') < prefix;
}

/** Returns the eight groups of an IPv6 address. */
function groupsOf(address: string): string[] {
  // The form of WHATWG URLs has no groups in decimal notation.
  const { hostname } = new URL(`http://[${address}]`);
  const [head = [], tail = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean));
  return [...head, ...new Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
}

function bitsOf(parts: readonly string[], radix: number, width: number): string {
  return parts.map((part) => parseInt(part, radix).toString(2).padStart(width, '0')).join('');
}
