/** Signed notes, verifier keys, checkpoints and cosignatures: formats only. test/log verifies signatures. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  ED25519,
  ED25519_COSIGNATURE,
  ed25519CosignatureMessage,
  FormatError,
  formatCheckpoint,
  formatNote,
  formatSignatureLine,
  formatTimestampedSignature,
  formatVerifierKey,
  isKeyName,
  keyIdMessage,
  ML_DSA_44_COSIGNATURE,
  mlDsa44CosignatureMessage,
  parseCheckpoint,
  parseNote,
  parseSignatureLines,
  parseTimestampedSignature,
  parseVerifierKey,
  readKeyId,
} from '#tlog';
import { C2SP } from './vectors.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter(isKeyName);
const line = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
const size = fc.maxSafeNat();
const signature = fc.record(
  {
    name,
    keyId: fc.nat(2 ** 32 - 1),
    signature: fc.uint8Array({ minLength: 1, maxLength: 80 }),
  },
  { noNullPrototype: true },
);

describe('parseNote', () => {
  it('takes the notes of C2SP apart, and puts them together again', () => {
    for (const { note } of [
      C2SP.signed_note,
      C2SP.verified_note,
      C2SP.sumdb_note,
      C2SP.checkpoint,
      C2SP.cosigned_checkpoint,
    ]) {
      assert.equal(formatNote(parseNote(note)), note);
    }
    const { text, signatures } = parseNote(C2SP.signed_note.note);
    assert.match(text, /terra\ntrafitto da un raggio di sole:\n\ned è subito sera\.\n$/);
    assert.deepEqual(
      signatures.map(({ name, signature }) => [name, signature.length]),
      [['quasimodo.example/salvatore', 64]],
    );
  });

  it('returns what formatNote was given', () => {
    const lines = fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 5 });
    const signatures = fc.array(signature, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(lines, signatures, (lines, signatures) => {
        const note = { text: `${lines.join('\n')}\n`, signatures };
        assert.deepEqual(parseNote(formatNote(note)), note);
      }),
    );
  });

  it('says in one sentence why a note is refused', () => {
    const good = '— a AAAAAAA=\n';
    for (const [note, message] of [
      ['text\n', /empty line/],
      ['text\n\n', /final newline/],
      [`text\n\n${good.slice(0, -1)}`, /final newline/],
      [`text\n\n${good}— a AAAA\n`, /signature line 2: expected a key ID and a signature/],
      ['text\n\n— a+b AAAAAAA=\n', /signature line 1: expected "— <key name> <base64>"/],
      ['text\n\n- a AAAAAAA=\n', /signature line 1/],
      ['text\n\n— a  AAAAAAA=\n', /signature line 1/],
      ['text\n\n— a\u00a0b AAAAAAA=\n', /signature line 1/],
      ['text\n\n— a AAAAAAB=\n', /signature line 1: expected padded base64/],
      [`a\tb\n\n${good}`, /line 1: expected Unicode text without control characters/],
      [`a\r\n\n${good}`, /line 1/],
      [`a\n\ud800\n\n${good}`, /line 2/],
      [`text\n\n${good.repeat(65)}`, /at most 64 signature lines, got 65/],
      [`${'a'.repeat(2 ** 20)}\n\n${good}`, /at most 1 MiB/],
    ] as const) {
      assert.throws(() => parseNote(note), { name: 'FormatError', message });
    }
  });

  it('accepts 64 signatures', () => {
    assert.equal(parseNote(`text\n\n${'— a AAAAAAA=\n'.repeat(64)}`).signatures.length, 64);
  });
});

describe('parseSignatureLines', () => {
  it('reads what a witness answers', () => {
    const { lines } = C2SP.witness_response;
    const signatures = parseSignatureLines(lines);
    assert.equal(signatures.map(formatSignatureLine).join(''), lines);
    assert.deepEqual(
      signatures.map(({ name }) => name),
      ['witness.example/w1', 'witness.example/w1', 'witness.example/w2'],
    );
    // A time and an Ed25519 signature; the page's bytes are random.
    assert.ok(signatures.every(({ signature }) => signature.length === 72));
  });

  it('refuses text without a line', () => {
    for (const text of ['', '\n', 'x']) assert.throws(() => parseSignatureLines(text), FormatError);
  });
});

describe('parseVerifierKey', () => {
  it('reads the keys of the examples, whose key IDs are hashes', () => {
    for (const { vkey } of [C2SP.verified_note, C2SP.sumdb_note]) {
      const key = parseVerifierKey(vkey);
      assert.equal(formatVerifierKey(key), vkey);
      assert.equal(key.type, ED25519);
      const message = keyIdMessage(key.name, key.type, key.publicKey);
      assert.equal(readKeyId(createHash('sha256').update(message).digest()), key.keyId);
    }
  });

  it('returns what formatVerifierKey was given', () => {
    const key = fc.oneof(
      ...[ED25519, ED25519_COSIGNATURE, ML_DSA_44_COSIGNATURE].map((type) =>
        fc.record({
          name,
          keyId: fc.nat(2 ** 32 - 1),
          type: fc.constant(type),
          publicKey: bytes(type === ML_DSA_44_COSIGNATURE ? 1312 : 32),
        }),
      ),
    );
    fc.assert(
      fc.property(key, (key) => {
        const text = formatVerifierKey(key);
        assert.deepEqual(parseVerifierKey(text), { ...key, text });
      }),
    );
  });

  it('says in one sentence why a key is refused', () => {
    const { vkey } = C2SP.verified_note;
    for (const [wrong, message] of [
      ['', /expected a verifier key/],
      [vkey.replace('530d903a', '530D903A'), /expected a verifier key/],
      [vkey.replace('example.com', 'example com'), /expected a verifier key/],
      [vkey.slice(0, -1), /example.com\/foo: expected padded base64/],
      [vkey.slice(0, -4), /expected 32 bytes for signature type 1, got 29/],
      ['a+00000000+', /expected signature type 1, 4 or 6, got none/],
      ['a+00000000+AgAA', /expected signature type 1, 4 or 6, got 2/],
    ] as const) {
      assert.throws(() => parseVerifierKey(wrong), { name: 'FormatError', message });
    }
  });
});

describe('parseCheckpoint', () => {
  it('reads the checkpoint of C2SP', () => {
    const { text } = parseNote(C2SP.checkpoint.note);
    const checkpoint = parseCheckpoint(text);
    assert.equal(checkpoint.origin, 'example.com/behind-the-sofa');
    assert.equal(checkpoint.size, 20_852_163);
    assert.deepEqual(checkpoint.extensions, []);
    assert.equal(formatCheckpoint(checkpoint), text);
    assert.equal(parseNote(C2SP.witness_request.checkpoint).text, text);
  });

  it('returns what formatCheckpoint was given', () => {
    const extensions = fc.array(line, { maxLength: 3 });
    const checkpoint = fc.record(
      { origin: line, size, root: bytes(32), extensions },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(checkpoint, (checkpoint) => {
        assert.deepEqual(parseCheckpoint(formatCheckpoint(checkpoint)), checkpoint);
      }),
    );
  });

  it('says in one sentence why a checkpoint is refused', () => {
    const root = 'A'.repeat(43);
    for (const [text, message] of [
      ['', /expected origin, size and root hash, got 0 lines/],
      [`o\n1\n${root}=`, /final newline/],
      [`o\n01\n${root}=\n`, /line 2, tree size: expected a decimal number/],
      [`o\n-1\n${root}=\n`, /line 2/],
      [`o\n9007199254740992\n${root}=\n`, /below 2\^53/],
      [`o\n1\n${root}\n`, /line 3, root hash: expected base64 .* of 32 bytes/],
      [`o\n1\n${root}B=\n`, /line 3/],
      [`\n1\n${root}=\n`, /line 1 of a checkpoint must not be empty/],
      [`o\n1\n${root}=\n\n`, /line 4/],
    ] as const) {
      assert.throws(() => parseCheckpoint(text), { name: 'FormatError', message });
    }
    const checkpoint = { origin: 'o', size: 0, root: Buffer.alloc(32), extensions: [] };
    assert.throws(() => formatCheckpoint({ ...checkpoint, origin: 'a\nb' }), TypeError);
    assert.throws(() => formatCheckpoint({ ...checkpoint, size: 0.5 }), RangeError);
    assert.throws(() => formatCheckpoint({ ...checkpoint, root: Buffer.alloc(31) }), TypeError);
    assert.throws(() => formatCheckpoint({ ...checkpoint, extensions: [''] }), TypeError);
  });
});

describe('cosignatures', () => {
  it('have the message and the time of C2SP (Ed25519)', () => {
    const { note, witness, timestamp, message } = C2SP.cosigned_checkpoint;
    const { text, signatures } = parseNote(note);
    assert.equal(Buffer.from(ed25519CosignatureMessage(timestamp, text)).toString(), message);
    const cosignature = signatures.find(({ name }) => name === witness);
    assert.ok(cosignature);
    const parsed = parseTimestampedSignature(cosignature.signature, ED25519_COSIGNATURE);
    assert.equal(parsed.timestamp, timestamp);
    assert.equal(parsed.signature.length, 64);
    assert.deepEqual(
      Buffer.from(formatTimestampedSignature(parsed)),
      Buffer.from(cosignature.signature),
    );
  });

  it('have the structure cosigned_message (ML-DSA-44)', () => {
    const root = Buffer.alloc(32, 7);
    const tree = { cosigner: 'wé', timestamp: 2 ** 40 + 1, origin: 'log', size: 2 ** 33, root };
    const expected = [
      '737562747265652f76310a00', // "subtree/v1\n\0"
      '0377c3a9',
      '0000010000000001',
      '036c6f67',
      '0000000000000000',
      '0000000200000000',
      '07'.repeat(32),
    ];
    assert.equal(Buffer.from(mlDsa44CosignatureMessage(tree)).toString('hex'), expected.join(''));
    for (const wrong of [
      { cosigner: '' },
      { cosigner: 'a'.repeat(256) },
      { origin: 'é'.repeat(128) },
    ]) {
      assert.throws(() => mlDsa44CosignatureMessage({ ...tree, ...wrong }), FormatError);
    }
  });

  it('are refused with the wrong length, of a foreign type, and beyond 2^53 seconds', () => {
    const good = Buffer.alloc(8 + 2420);
    assert.equal(parseTimestampedSignature(good, ML_DSA_44_COSIGNATURE).timestamp, 0);
    assert.throws(() => parseTimestampedSignature(good, ED25519_COSIGNATURE), FormatError);
    assert.throws(() => parseTimestampedSignature(good, ED25519), FormatError);
    good[1] = 0x20;
    assert.throws(() => parseTimestampedSignature(good, ML_DSA_44_COSIGNATURE), /below 2\^53/);
  });
});
