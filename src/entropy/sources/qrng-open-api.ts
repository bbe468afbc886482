/**
 * The QRNG Open API of Palo Alto Networks and six makers of quantum random number generators:
 * https://github.com/PaloAltoNetworks/QRNG-OPENAPI
 */
import Type, { type Static } from 'typebox';
import { Check } from 'typebox/value';
import { newBytes } from '../../bytes.ts';
import { NoiseFailure } from '../noise.ts';
import { RequestFailure, unknownForm } from './_json-request.ts';
import { type Ask, QRNG_SERVICE, type QrngProfile } from './_qrng-profile.ts';

/** Bytes of one request, if the source allows it. */
const WANTED_BYTES = 1_024;

/** Largest request in bytes. This client does not support sources with larger minimum blocks. */
const MAX_BLOCK_BYTES = 65_536;

const Count = Type.Integer({ minimum: 1 });

/** "Capabilities GET". The smallest sizes are 1 if absent. */
const Capabilities = Type.Object({
  entropy: Type.Object({
    min_block_size: Type.Optional(Count),
    max_block_size: Count,
    min_block_count: Type.Optional(Count),
    max_block_count: Count,
  }),
});

/** "Healthtest GET". A result is in the maker's terms, such as `0.94`. */
const HealthTest = Type.Object({
  test_result: Type.Array(Type.Object({ test_type: Type.String(), test_result: Type.Unknown() })),
});

/** "Entropy POST": base64, one string for each block. */
const Entropy = Type.Object({ entropy: Type.Array(Type.String()) });

interface Blocks {
  readonly size: number;
  readonly count: number;
}

export const OPEN_API: QrngProfile = {
  url: null,
  needsApiKey: false,
  credentials: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  open: (ask) => {
    let blocks: Blocks | null = null;
    return async (signal) => {
      try {
        blocks ??= await prepare(ask, signal);
        return await fetchBlocks(ask, blocks, signal);
      } catch (error) {
        // The next answer may come from another device, or from this one after a restart.
        blocks = null;
        throw error;
      }
    };
  },
};

/** Checks the health of the source and reads its block limits. */
async function prepare(ask: Ask, signal: AbortSignal): Promise<Blocks> {
  await checkHealth(ask, signal);
  const answer = await ask('GET', '/v1/capabilities', { signal });
  if (!Check(Capabilities, answer)) throw unknownForm(QRNG_SERVICE, 'its capabilities');
  return planBlocks(answer.entropy);
}

/** Returns the fewest blocks that give `WANTED_BYTES` within the limits of the source. */
function planBlocks(limits: Static<typeof Capabilities>['entropy']): Blocks {
  const { min_block_size = 1, max_block_size, min_block_count = 1, max_block_count } = limits;
  const size = Math.max(min_block_size, Math.min(max_block_size, WANTED_BYTES));
  const wanted = Math.ceil(WANTED_BYTES / size);
  const count = Math.max(min_block_count, Math.min(max_block_count, wanted));
  if (size > max_block_size || count > max_block_count || size * count > MAX_BLOCK_BYTES) {
    throw new NoiseFailure(
      `the QRNG service offers no block of at most ${MAX_BLOCK_BYTES} bytes: check its configuration`,
    );
  }
  return { size, count };
}

/**
 * Throws `NoiseFailure` on a failed health test. The test is optional: a source without one answers
 * 404.
 */
async function checkHealth(ask: Ask, signal: AbortSignal): Promise<void> {
  const answer = await ask('GET', '/v1/healthtest', { signal }).catch((error: unknown) => {
    if (error instanceof RequestFailure && error.status === 404) return { test_result: [] };
    throw error;
  });
  if (!Check(HealthTest, answer)) throw unknownForm(QRNG_SERVICE, 'its health test');
  if (answer.test_result.some(({ test_result }) => saysFailed(test_result))) {
    throw new NoiseFailure('the QRNG service reports a failed health test: look at the device');
  }
}

// The protocol defines no limits for numbers, but no maker can mean success by these values.
function saysFailed(result: unknown): boolean {
  return result === false || (typeof result === 'string' && /^(fail|error|false)/i.test(result));
}

async function fetchBlocks(
  ask: Ask,
  { size, count }: Blocks,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const answer = await ask('POST', '/v1/entropy', {
    signal,
    json: { block_size: size, block_count: count },
    // Base64 is a third longer; quotes and commas add some bytes for each block.
    maxBytes: 4_096 + count * (2 * size + 8),
  });
  const bytes = Check(Entropy, answer) ? decodeBlocks(answer.entropy, size, count) : null;
  if (bytes === null) throw unknownForm(QRNG_SERVICE, 'the request for entropy');
  return bytes;
}

/**
 * Returns the joined blocks, or null unless each is exactly `size` bytes in base64 (RFC 4648 §4).
 */
function decodeBlocks(blocks: readonly string[], size: number, count: number): Uint8Array | null {
  const digits = Math.ceil((size * 4) / 3);
  const form = new RegExp(`^[A-Za-z0-9+/]{${digits}}={${-digits & 3}}$`);
  if (blocks.length !== count || !blocks.every((text) => form.test(text))) return null;
  const bytes = newBytes(size * count);
  for (const [i, text] of blocks.entries()) bytes.write(text, i * size, size, 'base64');
  return bytes;
}
