/** The log's keys, signed checkpoints, the policy and the state file. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import {
  ED25519_COSIGNATURE,
  ed25519CosignatureMessage,
  formatNote,
  formatSignatureLine,
  formatTimestampedSignature,
  formatVerifierKey,
  keyIdMessage,
  ML_DSA_44_COSIGNATURE,
  meetsQuorum,
  parseNote,
  readKeyId,
  type VerifierKey,
} from '#tlog';
import {
  checkOrigin,
  EMPTY_ROOT,
  entryOf,
  newLogKeysText,
  newOrigin,
  openCheckpoint,
  openPolicy,
  openVerifierKey,
  parseLogKeys,
  policyText,
  readState,
  signCheckpoint,
  verifySignature,
  writeState,
} from '../../src/log/index.ts';
import { sha256 } from '../support/ledgers/merkle.ts';
import { C2SP } from '../tlog/vectors.ts';

const ORIGIN = 'keys.example.com/log';
const NOW = 1_790_000_000;
const HEAD = { size: 17, root: Buffer.alloc(32, 3) };

const keysText = newLogKeysText(ORIGIN);
const keys = parseLogKeys(keysText);
const verifiers = [keys.verifierKeys.ed25519, keys.verifierKeys.mlDsa44].map(openVerifierKey);
const note = signCheckpoint(keys, HEAD, NOW);

/** A witness with an Ed25519 key. */
function newWitness(name: string): { key: VerifierKey; cosign: (text: string) => string } {
  const { privateKey, publicKey: publicObject } = generateKeyPairSync('ed25519');
  const publicKey = publicObject.export({ format: 'raw-public' });
  const type = ED25519_COSIGNATURE;
  const keyId = readKeyId(sha256(keyIdMessage(name, type, publicKey)));
  const key = openVerifierKey(formatVerifierKey({ name, keyId, type, publicKey }));
  const cosign = (text: string) => {
    const signature = sign(null, ed25519CosignatureMessage(NOW, text), privateKey);
    const bytes = formatTimestampedSignature({ timestamp: NOW, signature });
    return formatSignatureLine({ name, keyId, signature: bytes });
  };
  return { key, cosign };
}

describe('log keys', () => {
  it('are two lines of text, fresh each time', () => {
    const line = (id: string) =>
      `PRIVATE\\+KEY\\+${ORIGIN}\\+[0-9a-f]{8}\\+${id}[A-Za-z0-9+/]{43}\\n`;
    // "AQ…" and "Bg…" are the signature types 1 and 6 in base64.
    assert.match(keysText, new RegExp(`^${line('A')}${line('B')}$`));
    assert.notEqual(newLogKeysText(ORIGIN), keysText);
    assert.equal(keys.origin, ORIGIN);
    assert.deepEqual(parseLogKeys(keysText).verifierKeys, keys.verifierKeys);
    assert.deepEqual(
      verifiers.map(({ name, type }) => [name, type]),
      [
        [ORIGIN, 1],
        [ORIGIN, 6],
      ],
    );
  });

  it('are refused without quoting them', () => {
    const [first = '', second = ''] = keysText.split('\n');
    const other = newLogKeysText('other.example/log').split('\n')[1] as string;
    for (const [text, message] of [
      ['', /expected two lines of log keys, got 0/],
      [first, /got 1/],
      [`${keysText}${first}`, /got 3/],
      [`${second}\n${first}\n`, /line 1 of the log keys: expected signature type 1, got 6/],
      [`${first}\n${other}\n`, /must have the same origin/],
      [`${first.slice(0, -1)}\n${second}\n`, /line 1 of the log keys: expected PRIVATE\+KEY/],
      [keysText.replaceAll('example.com', 'example.org'), /line 1 .*the key ID does not belong/],
      [keysText.replaceAll(ORIGIN, 'a b'), /expected an origin/],
    ] as const) {
      assert.throws(
        () => parseLogKeys(text),
        (error: Error) => {
          assert.match(error.message, message);
          assert.equal(error.name, 'FormatError');
          for (const line of [first, second])
            assert.ok(!error.message.includes(line.slice(-40, -5)));
          return true;
        },
      );
    }
  });

  it('need an origin that fits a signature line and a length byte', () => {
    assert.match(newOrigin(), /^phm\.invalid\/[0-9a-f]{16}$/);
    assert.notEqual(newOrigin(), newOrigin());
    for (const good of ['a', 'keys.example.com/log', 'é'.repeat(127)]) {
      assert.equal(checkOrigin(good), good);
    }
    for (const wrong of ['', 'a b', 'a+b', 'a\n', 'a\u00a0b', 'é'.repeat(128), '\ud800']) {
      assert.throws(() => checkOrigin(wrong), { name: 'FormatError' });
      assert.throws(() => newLogKeysText(wrong), { name: 'FormatError' });
    }
  });
});

describe('openVerifierKey', () => {
  it('refuses a key ID that does not belong to the key', () => {
    const { vkey } = C2SP.verified_note;
    assert.equal(openVerifierKey(vkey).text, vkey);
    assert.throws(() => openVerifierKey(vkey.replace('530d', '530e')), /key ID does not belong/);
    assert.throws(() => openVerifierKey(vkey.replace('foo', 'fop')), /key ID does not belong/);
  });
});

describe('verifySignature', () => {
  it('accepts the examples of C2SP and Go', () => {
    for (const { vkey, note } of [C2SP.verified_note, C2SP.sumdb_note]) {
      const [key, parsed] = [openVerifierKey(vkey), parseNote(note)];
      const [signature] = parsed.signatures;
      assert.ok(signature);
      assert.deepEqual(verifySignature(key, parsed, signature), { valid: true, timestamp: null });
      const changed = { ...parsed, text: parsed.text.replace('a', 'b') };
      assert.equal(verifySignature(key, changed, signature).valid, false);
    }
  });

  it('accepts both signatures of the log, and the cosignature of a witness', () => {
    const witness = newWitness('witness.example/w1');
    const parsed = parseNote(note + witness.cosign(parseNote(note).text));
    const all = [...verifiers, witness.key];
    assert.deepEqual(
      parsed.signatures.map((one, i) => verifySignature(all[i] as VerifierKey, parsed, one)),
      [
        { valid: true, timestamp: null },
        { valid: true, timestamp: NOW },
        { valid: true, timestamp: NOW },
      ],
    );
  });

  it('fails if any byte of a signature or of the text changes, and for any other key', () => {
    const parsed = parseNote(note);
    fc.assert(
      fc.property(fc.nat(1), fc.nat(), fc.integer({ min: 1, max: 255 }), (which, at, change) => {
        const key = verifiers[which] as VerifierKey;
        const good = parsed.signatures[which];
        assert.ok(good);
        const bytes = Buffer.from(good.signature);
        bytes[at % bytes.length] = (bytes[at % bytes.length] as number) ^ change;
        assert.equal(verifySignature(key, parsed, { ...good, signature: bytes }).valid, false);
        assert.equal(
          verifySignature(verifiers[1 - which] as VerifierKey, parsed, good).valid,
          false,
        );
      }),
      { numRuns: 60 },
    );
    for (const [i, key] of verifiers.entries()) {
      const good = parsed.signatures[i];
      assert.ok(good);
      for (const text of [parsed.text.replace('17', '18'), parsed.text.replace('log', 'lag')]) {
        assert.equal(verifySignature(key, { ...parsed, text }, good).valid, false);
      }
      const short = { ...good, signature: good.signature.slice(1) };
      assert.equal(verifySignature(key, parsed, short).valid, false);
      assert.equal(verifySignature(key, { ...parsed, text: 'no checkpoint\n' }, good).valid, false);
    }
  });

  it('does not sign extension lines with ML-DSA-44, but with Ed25519', () => {
    const parsed = parseNote(note);
    const extended = { ...parsed, text: `${parsed.text}extension\n` };
    const verdicts = parsed.signatures.map(
      (one, i) => verifySignature(verifiers[i] as VerifierKey, extended, one).valid,
    );
    assert.deepEqual(verdicts, [false, true]);
  });

  it('takes bytes that are no public key for an invalid signature', () => {
    const parsed = parseNote(note);
    const good = parsed.signatures[0];
    assert.ok(good);
    for (const fill of [0, 0xff]) {
      const key = { ...(verifiers[0] as VerifierKey), publicKey: new Uint8Array(32).fill(fill) };
      assert.equal(verifySignature(key, parsed, good).valid, false);
    }
  });
});

describe('openCheckpoint', () => {
  it('returns the head and who signed it', () => {
    const { checkpoint, signedBy } = openCheckpoint(note, verifiers);
    assert.deepEqual([checkpoint.origin, checkpoint.size], [ORIGIN, 17]);
    assert.deepEqual(Buffer.from(checkpoint.root), HEAD.root);
    assert.deepEqual(
      signedBy.map(({ text, timestamp }) => [text, timestamp]),
      [
        [keys.verifierKeys.ed25519, null],
        [keys.verifierKeys.mlDsa44, NOW],
      ],
    );
  });

  it('ignores unknown signatures, as also under a known name', () => {
    const stranger = newWitness(ORIGIN);
    const extended = note + stranger.cosign('something else\n');
    assert.equal(openCheckpoint(extended, verifiers).signedBy.length, 2);
    assert.equal(openCheckpoint(extended, verifiers.slice(1)).signedBy.length, 1);
  });

  it('refuses a checkpoint that no key of the log signed', () => {
    const witness = newWitness('witness.example/w1');
    const { text, signatures } = parseNote(note + witness.cosign(parseNote(note).text));
    const cosigned = formatNote({ text, signatures: signatures.slice(2) });
    assert.throws(
      () => openCheckpoint(cosigned, [...verifiers, witness.key]),
      /no known key of keys/,
    );
    assert.throws(
      () => openCheckpoint(note, []),
      /no known key of keys.example.com\/log has signed/,
    );
    // A key of another log, also one that is trusted, says nothing of this origin.
    const other = parseLogKeys(newLogKeysText('other.example/log'));
    const foreign = signCheckpoint({ ...other, origin: ORIGIN }, HEAD, NOW);
    const theirs = openVerifierKey(other.verifierKeys.ed25519);
    assert.throws(() => openCheckpoint(foreign, [theirs]), /no known key of keys/);
  });

  it('refuses a wrong signature by a known key, also beside a right one', () => {
    const witness = newWitness('witness.example/w1');
    for (const wrong of [note + witness.cosign('other text\n'), note.replace('\n17\n', '\n18\n')]) {
      assert.throws(() => openCheckpoint(wrong, [...verifiers, witness.key]), {
        name: 'FormatError',
        message: /^the signature of .* on the checkpoint is wrong$/,
      });
    }
  });

  it('knows the root of an empty log', () => {
    const empty = signCheckpoint(keys, { size: 0, root: EMPTY_ROOT }, NOW);
    assert.equal(openCheckpoint(empty, verifiers).checkpoint.size, 0);
    const wrong = signCheckpoint(keys, { size: 0, root: HEAD.root }, NOW);
    assert.throws(() => openCheckpoint(wrong, verifiers), /empty log has the wrong root/);
  });
});

describe('policyText', () => {
  it('lists the ML-DSA-44 key, and the Ed25519 key only in a comment', () => {
    const text = policyText(keys);
    const policy = openPolicy(text);
    assert.deepEqual(
      policy.logs.map(({ key }) => key.type),
      [ML_DSA_44_COSIGNATURE],
    );
    assert.equal(policy.quorum, 'none');
    assert.match(text, /^# .*Ed25519.*: (\S+)$/m);
    assert.ok(text.includes(keys.verifierKeys.ed25519));
  });

  it('takes witnesses, groups and quorum from the file of the operator', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => newWitness(`${name}.example`).key.text);
    const witnesses = openPolicy(
      `witness A ${a} https://a.example\nwitness B ${b}\nwitness C ${c}\n` +
        'group AB any A B\ngroup all all AB C\nquorum all\n',
    );
    const policy = openPolicy(policyText(keys, witnesses));
    assert.deepEqual(policy, { ...witnesses, logs: policy.logs });
    assert.equal(policy.logs.length, 1);
    assert.equal(meetsQuorum(policy, new Set(['B', 'C'])), true);
    assert.equal(meetsQuorum(policy, new Set(['A', 'B'])), false);
  });

  it('is refused if a key ID does not belong to its key', () => {
    const text = policyText(keys).replace(/^(log .*)\+[0-9a-f]{8}\+/m, '$1+00000000+');
    assert.throws(() => openPolicy(text), /key ID does not belong/);
  });
});

describe('the state file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'phm-log-state-'));
  const path = join(folder, 'log-state');
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('holds the last checkpoint as it was signed', () => {
    assert.equal(readState(path), null);
    for (const size of [17, 18]) {
      const signed = signCheckpoint(keys, { ...HEAD, size }, NOW);
      writeState(path, signed);
      assert.equal(readFileSync(path, 'utf8'), signed);
      assert.equal(statSync(path).mode & 0o777, 0o600);
      const state = readState(path);
      assert.deepEqual([state?.note, state?.checkpoint.size], [signed, size]);
    }
  });

  const asRoot = { skip: process.getuid?.() !== 0 && 'needs root' };
  it('stays with the user of the server if root writes it', asRoot, () => {
    const place = join(folder, 'of-server');
    mkdirSync(place);
    chownSync(place, 65_532, 65_533);
    const file = join(place, 'log-state');
    writeState(file, note);
    assert.deepEqual(
      [statSync(file).uid, statSync(file).gid],
      [65_532, 65_533],
      'as the directory',
    );
    chownSync(place, 0, 0);
    writeState(file, note);
    assert.equal(statSync(file).uid, 65_532, 'as the file before');
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it('is refused if it holds anything else', () => {
    for (const content of ['', 'x', note.slice(0, 40), '\0']) {
      writeFileSync(path, content);
      assert.throws(() => readState(path), { name: 'FormatError' });
    }
    assert.throws(() => readState(folder), { code: 'EISDIR' });
  });
});

describe('entryOf', () => {
  it('is the SHA-256 of the canonical statement as UTF-8', () => {
    assert.deepEqual(entryOf('{"a":"é"}'), sha256(Buffer.from('{"a":"é"}')));
  });
});
