/**
 * The quantum random number generator of Outshift by Cisco, https://qrng.outshift.com.
 *
 * Requests and answers follow published clients, because the provider's own reference was not
 * readable.
 */
import Type from 'typebox';
import { Check } from 'typebox/value';
import { type RequestFailure, unknownForm } from './_json-request.ts';
import { maxBytesOf, QRNG_SERVICE, type QrngProfile } from './_qrng-profile.ts';

/** Largest number of blocks in one request. */
const BLOCKS = 1_000;

const REQUEST = { encoding: 'raw', format: 'decimal', bits_per_block: 8, number_of_blocks: BLOCKS };

const Numbers = Type.Object({
  random_numbers: Type.Array(
    Type.Object({ decimal: Type.String({ pattern: '^(0|[1-9][0-9]{0,2})$' }) }),
    { minItems: BLOCKS, maxItems: BLOCKS },
  ),
});

export const OUTSHIFT: QrngProfile = {
  url: 'https://api.qrng.outshift.com',
  needsApiKey: true,
  credentials: (apiKey) => ({ 'x-id-api-key': apiKey }),
  open: (ask) => async (signal) => {
    const answer = await ask('POST', '/api/v1/random_numbers', {
      signal,
      json: REQUEST,
      maxBytes: maxBytesOf(BLOCKS),
    });
    if (!Check(Numbers, answer)) throw unknown();
    const numbers = answer.random_numbers.map(({ decimal }) => Number(decimal));
    if (numbers.some((number) => number > 255)) throw unknown();
    const bytes = Uint8Array.from(numbers);
    numbers.fill(0);
    return bytes;
  },
};

function unknown(): RequestFailure {
  return unknownForm(QRNG_SERVICE, 'the request for numbers');
}
