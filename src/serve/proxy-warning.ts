/** Warns of trusted proxies that let others pass the address ranges of API keys. */
import type { Logger } from 'pino';
import { type AddressRange, isLoopback } from '../config/index.ts';
import type { LedgerStore } from '../ledger/index.ts';

/** Shortest prefixes of a network that can hold a few proxies alone: 16 addresses, or one subnet. */
const NARROW = { ipv4: 28, ipv6: 64 } as const;

/**
 * Logs a warning if a trusted range is a whole network and an API key that works has address ranges: every machine in that
 * network can then name any client address in `X-Forwarded-For`. This machine itself is not counted.
 */
export async function warnOfWideProxies(
  store: Pick<LedgerStore, 'listApiKeys'>,
  proxies: readonly AddressRange[],
  logger: Pick<Logger, 'warn'>,
): Promise<void> {
  const wide = proxies.filter(
    ({ address, prefix, family }) => prefix < NARROW[family] && !isLoopback(address),
  );
  if (wide.length === 0) return;
  const apiKeys = await store.listApiKeys();
  const ids = apiKeys
    .filter(({ addressRanges, revokedMs }) => addressRanges !== null && revokedMs === null)
    .map(({ apiKeyId }) => apiKeyId);
  if (ids.length === 0) return;
  logger.warn(
    {
      trusted: wide.map(({ address, prefix }) => `${address}/${prefix}`),
      apiKeys: ids.slice(0, 10),
      count: ids.length,
    },
    'PHM_TRUST_PROXY covers a whole network: each machine in it can pass the address ranges of API keys. Name the proxies alone',
  );
}
