/** `PHM_TRUST_PROXY`: which peers are proxies that tell the client's address. */
import { isIP, isIPv4 } from 'node:net';
import { printable, type Reader } from './reader.ts';

/** A network by its address and the length of its prefix; one address has the whole length. */
export interface ProxyRange {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Ranges that have a name, as other software names them. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** The ranges that the variable names; a prefix of 0 would trust everybody. */
export function readTrustedProxies(reader: Reader): ProxyRange[] {
  const entries = reader
    .text('PHM_TRUST_PROXY')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return entries.flatMap((entry) => {
    const texts = Object.hasOwn(NAMED, entry) ? (NAMED[entry] ?? []) : [entry];
    const ranges = texts.map(parseRange);
    if (ranges.every((range) => range !== undefined)) return ranges;
    reader.problems.push(
      `PHM_TRUST_PROXY names "${printable(entry)}": use addresses (192.0.2.7), ranges (10.0.0.0/8, ` +
        'with a prefix of at least 1) and loopback, linklocal or uniquelocal, separated by commas',
    );
    return [];
  });
}

function parseRange(text: string): ProxyRange | undefined {
  const [address = '', prefixText, ...rest] = text.split('/');
  // An address with a zone belongs to one interface of one machine.
  if (!isIP(address) || address.includes('%') || rest.length > 0) return undefined;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const bits = family === 'ipv4' ? 32 : 128;
  if (prefixText === undefined) return { address, prefix: bits, family };
  const prefix = /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : 0;
  return prefix >= 1 && prefix <= bits ? { address, prefix, family } : undefined;
}
