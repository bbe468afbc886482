/**
 * ANU Quantum Numbers: vacuum noise measured at the Australian National University.
 *
 * "API Documentation", https://quantumnumbers.anu.edu.au/documentation
 */
import Type from 'typebox';
import { Check } from 'typebox/value';
import { unknownForm } from './_json-request.ts';
import { maxBytesOf, QRNG_SERVICE, type QrngProfile } from './_qrng-profile.ts';

/** Longest array of one request. */
const LENGTH = 1_024;

const Numbers = Type.Object({
  success: Type.Literal(true),
  type: Type.Literal('uint8'),
  data: Type.Array(Type.Integer({ minimum: 0, maximum: 255 }), {
    minItems: LENGTH,
    maxItems: LENGTH,
  }),
});

export const ANU: QrngProfile = {
  url: 'https://api.quantumnumbers.anu.edu.au',
  needsApiKey: true,
  credentials: (apiKey) => ({ 'x-api-key': apiKey }),
  open: (ask) => async (signal) => {
    const maxBytes = maxBytesOf(LENGTH);
    const answer = await ask('GET', `/?length=${LENGTH}&type=uint8`, { signal, maxBytes });
    if (!Check(Numbers, answer)) throw unknownForm(QRNG_SERVICE, 'the request for numbers');
    const bytes = Uint8Array.from(answer.data);
    answer.data.fill(0);
    return bytes;
  },
};
