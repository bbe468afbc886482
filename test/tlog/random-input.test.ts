/** Parsers refuse bad input with `FormatError`, and throw nothing else. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  decodeBase64,
  FormatError,
  parseAuditStatement,
  parseCheckpoint,
  parseEntries,
  parseNote,
  parsePolicy,
  parseProof,
  parseReceipt,
  parseSignatureLines,
  parseTilePath,
  parseTimestampedSignature,
  parseVerifierKey,
} from '#tlog';
import { C2SP } from './vectors.ts';

const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  decodeBase64,
  parseCheckpoint,
  parseNote,
  parsePolicy,
  parseProof,
  parseSignatureLines,
  parseVerifierKey,
  parseTilePath,
  parseReceipt: (text) => parseReceipt(text),
};

/** Texts that parsers accept, or nearly so. */
const SEEDS = [
  C2SP.signed_note.note,
  C2SP.cosigned_checkpoint.note,
  C2SP.proof.proof,
  C2SP.policy.policy,
  C2SP.witness_response.lines,
  C2SP.verified_note.vkey,
  'tile/0/x001/234.p/5',
];

function assertRefusedWell(parse: () => unknown): void {
  try {
    parse();
  } catch (error) {
    assert.ok(error instanceof FormatError, String(error));
    assert.ok(error.message.length < 400, error.message);
    assert.doesNotMatch(error.message, /\n/);
  }
}

/** Any text: bytes as characters, or any 16-bit code units. */
const noise = fc.oneof(
  fc.string({ unit: 'binary-ascii', maxLength: 80 }),
  fc.uint16Array({ maxLength: 40 }).map((units) => String.fromCharCode(...units)),
);

/** A known text with one stretch replaced by noise. */
const damaged = fc
  .tuple(fc.constantFrom(...SEEDS), fc.nat(), fc.nat(20), noise)
  .map(([text, at, removed, added]) => {
    const start = at % (text.length + 1);
    return text.slice(0, start) + added + text.slice(start + removed);
  });

describe('parsers of text', () => {
  for (const [name, parse] of Object.entries(PARSERS)) {
    it(`throw only FormatError (${name})`, () => {
      fc.assert(fc.property(noise, (text) => assertRefusedWell(() => parse(text))));
      fc.assert(fc.property(damaged, (text) => assertRefusedWell(() => parse(text))));
    });
  }
});

describe('parsers of bytes and JSON', () => {
  it('throw only FormatError', () => {
    const bytes = fc.uint8Array({ maxLength: 100 });
    fc.assert(fc.property(bytes, (bytes) => assertRefusedWell(() => parseEntries(bytes))));
    const type = fc.nat(8);
    fc.assert(
      fc.property(bytes, type, (bytes, type) =>
        assertRefusedWell(() => parseTimestampedSignature(bytes, type)),
      ),
    );
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (json) => {
        assertRefusedWell(() => parseReceipt(json));
        assertRefusedWell(() => parseReceipt({ statement: json, proof: '' }));
        assertRefusedWell(() => parseAuditStatement(json));
      }),
    );
  });
});
