/** A trusted network that is too wide is told at the start if API keys rely on addresses. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAddressRange } from '../../src/config/index.ts';
import type { ApiKeyRecord } from '../../src/ledger/index.ts';
import { warnOfWideProxies } from '../../src/serve/proxy-warning.ts';

const KEY = { apiKeyId: 'key_1', addressRanges: ['192.0.2.7'], revokedMs: null };

/** Returns the fields of the warnings. */
async function warnings(trusted: readonly string[], keys: readonly object[]): Promise<unknown[]> {
  const told: unknown[] = [];
  let reads = 0;
  await warnOfWideProxies(
    {
      listApiKeys: async () => {
        reads += 1;
        return keys as ApiKeyRecord[];
      },
    },
    trusted.map((text) => parseAddressRange(text)).filter((range) => range !== undefined),
    { warn: ((fields: unknown) => told.push(fields)) as never },
  );
  assert.ok(told.length <= reads, 'a warning names API keys');
  return told;
}

describe('a trusted network', () => {
  it('is told if it is wide and an API key has address ranges', async () => {
    for (const wide of ['10.0.0.0/8', '192.168.1.0/24', 'fc00::/7']) {
      assert.deepEqual(await warnings(['192.0.2.9', wide], [KEY]), [
        { trusted: [wide], apiKeys: ['key_1'], count: 1 },
      ]);
    }
  });

  it('is not told if it is narrow, is this machine, or no API key relies on it', async () => {
    for (const narrow of ['192.0.2.9', '192.0.2.0/28', '2001:db8::/64', '127.0.0.0/8', '::1']) {
      assert.deepEqual(await warnings([narrow], [KEY]), [], narrow);
    }
    const others = [
      { ...KEY, addressRanges: null },
      { ...KEY, revokedMs: 5 },
    ];
    assert.deepEqual(await warnings(['10.0.0.0/8'], others), []);
  });
});
