/** Reads `PHM_TRUST_PROXY`: the peers whose `X-Forwarded-For` is trusted. */
import { type AddressRange, parseAddressRange } from './address-range.ts';
import { printable, type Reader } from './reader.ts';

/** Named ranges, with the names that other software uses. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Reads the ranges. A prefix of 0 is refused, because it would trust everyone. */
export function readTrustedProxies(reader: Reader): AddressRange[] {
  const entries = reader
    .text('PHM_TRUST_PROXY')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return entries.flatMap((entry) => {
    const texts = Object.hasOwn(NAMED, entry) ? (NAMED[entry] ?? []) : [entry];
    const ranges = texts.map(parseAddressRange);
    if (ranges.every((range) => range !== undefined)) return ranges;
    reader.problems.push(
      `PHM_TRUST_PROXY contains "${printable(entry)}": use addresses (192.0.2.7), ranges (10.0.0.0/8, ` +
        'with a prefix of at least 1), loopback, linklocal or uniquelocal, separated by commas',
    );
    return [];
  });
}
