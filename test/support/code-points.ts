/** Characters for generated texts: any code point that is no half of a pair. */
import fc from 'fast-check';

/** The same as `unit: 'binary'` of fast-check, which takes a second to set up. */
export const CODE_POINTS: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));
