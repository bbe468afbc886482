/** Generates characters for texts: any code point except lone surrogates. */
import fc from 'fast-check';

/** Equals `unit: 'binary'` of fast-check, which takes a second to set up. */
export const CODE_POINTS: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));
