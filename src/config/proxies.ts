/** Reads `PHM_TRUST_PROXY`: the peers whose `X-Forwarded-For` is trusted. */
import { isIP, isIPv4 } from 'node:net';
import { printable, type Reader } from './reader.ts';

/** A network: its address and prefix length. A single address has the full length. */
export interface ProxyRange {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Named ranges, with the names that other software uses. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Reads the ranges. A prefix of 0 is refused, because it would trust everyone. */
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
      `PHM_TRUST_PROXY contains "${printable(entry)}": use addresses (192.0.2.7), ranges (10.0.0.0/8, ` +
        'with a prefix of at least 1), loopback, linklocal or uniquelocal, separated by commas',
    );
    return [];
  });
}

function parseRange(text: string): ProxyRange | undefined {
  const [address = '', prefixText, ...rest] = text.split('/');
  // An address with a zone is valid on one interface of one machine only.
  if (!isIP(address) || address.includes('%') || rest.length > 0) return undefined;
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const bits = family === 'ipv4' ? 32 : 128;
  if (prefixText === undefined) return { address, prefix: bits, family };
  const prefix = /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : 0;
  return prefix >= 1 && prefix <= bits ? { address, prefix, family } : undefined;
}
