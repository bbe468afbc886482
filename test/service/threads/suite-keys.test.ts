/** Keys of a suite worker: their rows, their evidence, and what leaves the thread. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  headerRecipients,
  newRecipient,
  open,
  type RecipientKey,
  SEAL_SUITES,
  thumbprintOf,
} from '#sealing';
import { Generator } from '../../../src/keys/generator.ts';
import { formatKeyId } from '../../../src/keys/key-id.ts';
import { keyCommitment, wipeKey } from '../../../src/keys/key-receipt.ts';
import { Latch } from '../../../src/keys/latch.ts';
import type { GeneratedKey } from '../../../src/keys/order.ts';
import { sealKey } from '../../../src/keys/seal.ts';
import { keyEntry } from '../../../src/keys/statement.ts';
import { sealsOf } from '../../../src/ledger/row-seals.ts';
import type { SuiteJob, SuiteReply } from '../../../src/service/suite/messages.ts';
import type { LogBinding } from '../../../src/service/threads/messages.ts';
import { unpackKeys } from '../../../src/service/threads/packed-keys.ts';
import { unpackRows } from '../../../src/service/threads/packed-rows.ts';
import { SuiteKeys, type SuiteKeysOptions } from '../../../src/service/threads/suite-keys.ts';
import {
  fakeSource,
  keyring,
  order,
  parts,
  RecordingDrbg,
  SCREEN_RESEEDS,
  sampleVerdict,
} from '../../support/servers/fakes.ts';

const LOG: LogBinding = {
  logId: 1,
  origin: 'phm.invalid/0123456789abcdef',
  software: 'phm-key-service/0+0',
  softwareId: 7,
};
const requester = { accountId: 'a', apiKeyId: 'k', atMs: Date.UTC(2026, 10, 23, 12) };
const MINUTE_MS = 60_000;
const GOOD_AT = { monotonicMs: 0, wallMs: 0 };

const isWiped = (bytes: Uint8Array) => bytes.every((byte) => byte === 0);

/** Reports whether any part of a value, at any depth, holds the bytes, raw or as hexadecimal or base64 text. */
function holds(value: unknown, bytes: Buffer): boolean {
  if (typeof value === 'string') {
    const texts = [bytes.toString('hex'), bytes.toString('base64url').slice(0, -1)];
    return texts.some((text) => value.includes(text));
  }
  if (value instanceof Uint8Array) return Buffer.from(value.buffer).includes(bytes);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((part) => holds(part, bytes));
}

function makeKeys({
  log = null,
  os = fakeSource('os', 256),
  ...options
}: SuiteKeysOptions & {
  readonly log?: LogBinding | null;
  readonly os?: ReturnType<typeof fakeSource>;
} = {}) {
  const verdicts: boolean[] = [];
  const samples: Uint8Array[] = [];
  const clock = { nowMs: 0 };
  const drbg = new RecordingDrbg();
  const latch = Latch.forThreads(1);
  const generator = new Generator(parts({ os, drbg, latch }));
  generator.takeScreen();
  const keys = new SuiteKeys(generator, keyring, log, {
    judge: (sample) => {
      samples.push(sample);
      return sampleVerdict(verdicts.shift() ?? true);
    },
    now: () => ({ monotonicMs: clock.nowMs, wallMs: clock.nowMs }),
    ...options,
  });
  let id = 0;
  const run = (changes: Partial<SuiteJob> = {}): Promise<SuiteReply> =>
    keys.run({
      ...{ id: ++id, requester, order: order(), count: 1, recipients: [], delivery: null },
      ...changes,
    });
  return { keys, run, verdicts, samples, clock, generator, latch, drbg };
}

function made({ result }: SuiteReply) {
  assert.ok(result.kind === 'made', result.kind);
  const { rows, keys, sealed } = result;
  return { rows: unpackRows(rows), keys: unpackKeys(keys), sealed };
}

describe('a sealed key that is altered before its seal', () => {
  it('latches, and nothing of its job leaves the worker', async () => {
    const seal = (...[generated, ...rest]: Parameters<typeof sealKey>) => {
      generated.key[5] ^= 4;
      return sealKey(generated, ...rest);
    };
    const { run, generator } = makeKeys({ seal });
    const recipient = await newRecipient();
    const { result } = await run({ recipients: [recipient] });
    assert.equal(result.kind, 'failed');
    assert.equal(result.kind === 'failed' && result.failure.code, 'entropy_unavailable');
    const { cause, test } = generator.latched ?? {};
    assert.deepEqual([cause, test], ['altered_key', 'seal']);
  });
});

describe('keys of a job in plaintext', () => {
  it('come with the rows that the ledger records, and share one buffer', async () => {
    const { run } = makeKeys({ log: LOG });
    const reply = await run({ count: 5, order: order({ receipt: true, securityLevel: 384 }) });
    const { rows, keys } = made(reply);
    assert.deepEqual([rows.length, keys.length], [5, 5]);
    assert.equal(new Set(keys.map(({ key }) => key.buffer)).size, 1);
    for (const [i, { key, opening, keyId }] of keys.entries()) {
      const row = rows[i];
      assert.ok(row?.receipt?.pending && opening);
      assert.equal(keyId, formatKeyId(row.keyId));
      assert.deepEqual(row.commitment, keyring.commit(key));
      assert.equal(row.createdMs, requester.atMs);
      const committed = keyCommitment(opening, keyId, key);
      assert.deepEqual(Buffer.from(row.receipt.keyCommitment), committed);
      const { keyCommitment: _, ...pending } = { ...row.receipt.pending, keyCommitment: null };
      const record = { ...row, ...requester, receipt: { ...row.receipt, software: LOG.software } };
      assert.deepEqual(pending.entry, keyEntry(record, LOG.origin));
      assert.deepEqual(pending.mac, keyring.logMac(1, row.keyId, pending.entry));
      assert.equal(holds(rows, Buffer.from(key)), false);
      assert.equal(holds(rows, Buffer.from(opening)), false);
    }
    assert.equal(new Set(keys.map(({ key }) => Buffer.from(key).toString('hex'))).size, 5);
  });

  it('leave nothing behind in the worker', async (t) => {
    const shown: Uint8Array[] = [];
    const { makeProof } = keyring;
    t.mock.method(keyring, 'makeProof', (key: Uint8Array) => {
      shown.push(key);
      return makeProof.call(keyring, key);
    });
    const { run } = makeKeys({ log: LOG });
    const { keys } = made(await run({ count: 3, order: order({ receipt: true }) }));
    assert.ok(shown.length === 3 && shown.every(isWiped));
    for (const key of keys) {
      assert.ok(!isWiped(key.key) && key.opening && !isWiped(key.opening));
      wipeKey(key);
    }
    assert.ok(keys.every(({ key }) => isWiped(new Uint8Array(key.buffer))));
  });

  it('are wiped if a later key of the job fails', async (t) => {
    const shown: Uint8Array[] = [];
    const { makeProof } = keyring;
    t.mock.method(keyring, 'makeProof', (key: Uint8Array) => {
      shown.push(key);
      if (shown.length === 3) throw new Error('staged');
      return makeProof.call(keyring, key);
    });
    const { run } = makeKeys();
    const { result } = await run({ count: 5 });
    assert.ok(result.kind === 'failed' && result.failure.code === 'internal_error');
    assert.ok(shown.length === 3 && shown.every(isWiped));
  });
});

describe('the evidence for plain keys of a suite worker', () => {
  it('is a sample before the first key, and after every interval', async () => {
    const { run, samples } = makeKeys({ interval: 4 });
    const first = await run({ count: 3 });
    assert.deepEqual([first.samples, first.evidence.isFailed], [[true], false]);
    assert.deepEqual((await run({ count: 6 })).samples, [true, true]);
    assert.deepEqual((await run({ count: 1 })).samples, []);
    assert.equal(samples.length, 3);
  });

  it('is not drawn for validated keys, which have their own', async () => {
    const { run, samples } = makeKeys();
    const { counts } = await run({ count: 2, order: order({ withEvidence: true }) });
    assert.deepEqual([samples.length, counts], [0, { streams: 2, streamsPassed: 2 }]);
  });

  it('is repeated once after a failure, and a second failure latches the process', async () => {
    const { run, verdicts, generator } = makeKeys();
    verdicts.push(false, true);
    const reply = await run();
    assert.deepEqual([reply.result.kind, reply.samples], ['made', [false, true]]);
    const other = makeKeys();
    other.verdicts.push(false, false);
    const { result } = await other.run();
    assert.ok(result.kind === 'failed' && result.failure.code === 'entropy_unavailable');
    assert.deepEqual([generator.latched, other.generator.latched?.cause], [null, 'gate']);
  });

  it('refuses the keys of a job before a failed sample, although the second one passes', async () => {
    const { keys, run, verdicts, generator } = makeKeys({ interval: 4 });
    verdicts.push(true, false, true);
    const reply = await run({ id: 1, count: 6 });
    assert.ok(reply.result.kind === 'failed', reply.result.kind);
    assert.equal(reply.result.failure.code, 'entropy_unavailable');
    assert.deepEqual(
      [reply.samples, reply.evidence, generator.latched],
      [[true, false, true], { goodAt: GOOD_AT, isFailed: false, failures: 1 }, null],
    );
    keys.settled({ settled: 1, recorded: true });
    assert.deepEqual(keys.unvouched().unvouchedKeys, [], 'none was released');
    assert.equal((await run({ count: 6 })).result.kind, 'made');
  });

  it('is missing while no second sample can be drawn: no key is made, and earlier ones are not released', async () => {
    const os = fakeSource('os', 256);
    const { run, verdicts, clock } = makeKeys({ os });
    assert.equal((await run()).evidence.isFailed, false);
    clock.nowMs = 9 * MINUTE_MS;
    verdicts.push(false);
    const { draw } = os;
    let draws = 0;
    // The draw after those of the first sample fails.
    os.draw = () => {
      draws += 1;
      if (draws > SCREEN_RESEEDS) throw new Error('staged');
      return draw.call(os);
    };
    const reply = await run();
    assert.ok(reply.result.kind === 'failed');
    assert.equal(reply.result.failure.code, 'entropy_unavailable');
    assert.equal(reply.evidence.isFailed, true);
    os.draw = draw;
    assert.equal((await run()).result.kind, 'made', 'a sample is drawn again');
  });

  it('is renewed for released keys after nine minutes, without traffic', async () => {
    const { keys, run, clock, samples } = makeKeys();
    await run({ id: 1 });
    clock.nowMs = 9 * MINUTE_MS;
    keys.refresh();
    assert.equal(samples.length, 1, 'the key is not in the ledger yet');
    keys.settled({ settled: 1, recorded: true });
    const report = keys.refresh();
    assert.equal(samples.length, 2);
    assert.deepEqual(
      [report?.samples, keys.refresh()],
      [[true], null],
      'the main thread hears of each verdict once',
    );
    assert.deepEqual(keys.unvouched(), { unvouchedKeys: [], lastGoodMs: clock.nowMs });
  });

  it('lists the keys in doubt: those in the ledger since the last good sample', async () => {
    const { keys, run, verdicts, clock } = makeKeys();
    const replies = [await run({ id: 1, count: 2 }), await run({ id: 2 }), await run({ id: 3 })];
    keys.settled({ settled: 1, recorded: true });
    keys.settled({ settled: 2, recorded: false });
    keys.settled({ settled: 3, recorded: true });
    clock.nowMs = 9 * MINUTE_MS;
    verdicts.push(false, false);
    assert.equal((await run()).result.kind, 'failed');
    const ids = [replies[0], replies[2]].flatMap((reply) =>
      reply ? made(reply).keys.map(({ keyId }) => keyId) : [],
    );
    assert.deepEqual(keys.unvouched(), { unvouchedKeys: ids, lastGoodMs: 0 });
  });

  it('ends with a last sample if released keys need one', async () => {
    const { keys, run, samples, verdicts } = makeKeys();
    assert.equal(keys.vouchForLast(), null);
    await run({ id: 1 });
    assert.equal(keys.vouchForLast(), null);
    assert.equal(samples.length, 1, 'no key is in the ledger');
    keys.settled({ settled: 1, recorded: true });
    verdicts.push(false, true);
    assert.equal(keys.vouchForLast(), null);
    assert.equal(samples.length, 4, 'a pass after a failure is no evidence for earlier keys');
  });
});

describe('sealed keys of a suite worker', () => {
  for (const { name } of SEAL_SUITES) {
    for (const log of [null, LOG]) {
      it(`leave it in sealed form only (${name}, ${log ? 'with' : 'without'} a log)`, async () => {
        const generated: GeneratedKey[] = [];
        const plaintexts: Buffer[] = [];
        const recipientKey = await newRecipient(name);
        const { run } = makeKeys({
          log,
          seal: async (...given) => {
            const [one] = given;
            generated.push(one);
            plaintexts.push(Buffer.from(one.key), Buffer.from(one.opening ?? []));
            return sealKey(...given);
          },
        });
        const reply = await run({ count: 3, recipients: [recipientKey] });
        const { rows, keys, sealed } = made(reply);
        assert.deepEqual([rows.length, keys.length, sealed.length], [3, 0, 3]);
        assert.ok(
          generated.every(({ key, opening }) => isWiped(key) && opening && isWiped(opening)),
        );
        for (const bytes of plaintexts) assert.equal(holds(reply, bytes), false);
        const thumbprint = Buffer.from(await thumbprintOf(recipientKey.publicKey));
        for (const [i, { sealedKeys, keyId }] of sealed.entries()) {
          const row = rows[i];
          const [sealedKey] = sealedKeys;
          assert.ok(row && sealedKey && sealedKeys.length === 1);
          const opened = await open({ sealedKey, recipientKey });
          assert.deepEqual(row.commitment, keyring.commit(opened.key));
          assert.equal(keyring.verifyProof(opened.key, opened.hashProof), 1);
          assert.deepEqual([keyId, opened.header.key_id], Array(2).fill(formatKeyId(row.keyId)));
          assert.equal(opened.header.service, log?.origin ?? null);
          assert.equal(opened.header.time, '2026-11-23T12:00:00.000+00:00');
          assert.deepEqual(Buffer.from(row.sealed?.recipient ?? []), thumbprint);
          assert.equal(row.receipt === null, log === null);
        }
      });
    }
  }

  it('obey the rule of evidence, or have their own', async () => {
    const recipient = await newRecipient();
    const { run, samples } = makeKeys();
    assert.deepEqual((await run({ recipients: [recipient] })).samples, [true]);
    const validated = await run({ recipients: [recipient], order: order({ withEvidence: true }) });
    assert.deepEqual(
      [samples.length, made(validated).sealed[0]?.evidence?.grade !== undefined],
      [1, true],
    );
  });

  it('do not leave it if a sample fails while the last one is sealed, although a second one passes', async () => {
    const recipient = await newRecipient();
    let onSeal = (): void => {};
    const made = makeKeys({
      seal: (generated, sealers, facts) => {
        onSeal();
        return sealKey(generated, sealers, facts);
      },
    });
    const { keys, run, verdicts, clock } = made;
    await run({ id: 1 });
    keys.settled({ settled: 1, recorded: true });
    onSeal = () => {
      clock.nowMs = 9 * MINUTE_MS;
      verdicts.push(false, true);
      assert.deepEqual(keys.refresh()?.samples, [false, true]);
    };
    const { result } = await run({ recipients: [recipient] });
    assert.ok(result.kind === 'failed', result.kind);
    assert.equal(result.failure.code, 'entropy_unavailable');
  });

  it('are not made for a public key that is refused', async () => {
    const recipient = { ...(await newRecipient()), publicKey: new Uint8Array(1_216) };
    const { run, drbg } = makeKeys();
    const { reseeds } = drbg;
    const { result } = await run({ recipients: [recipient] });
    assert.ok(result.kind === 'invalid_public_key');
    assert.match(result.problem, /ML-KEM part of this public key is not random/);
    assert.equal(drbg.reseeds, reseeds);
    const { result: second } = await run({ recipients: [await newRecipient(), recipient] });
    assert.ok(second.kind === 'invalid_public_key' && second.index === 1);
    assert.equal(drbg.reseeds, reseeds);
  });

  it('for several recipients open for each, and their row names all', async () => {
    const recipients = [await newRecipient(), await newRecipient('ML-KEM-1024')];
    const generated: GeneratedKey[] = [];
    const plaintexts: Buffer[] = [];
    const { run } = makeKeys({
      log: LOG,
      seal: async (...given) => {
        const [one] = given;
        generated.push(one);
        plaintexts.push(Buffer.from(one.key), Buffer.from(one.opening ?? []));
        return sealKey(...given);
      },
    });
    const thumbprints = await Promise.all(
      recipients.map(({ publicKey }) => thumbprintOf(publicKey)),
    );
    const names = thumbprints.map((one) => Buffer.from(one).toString('base64'));
    // The second job takes the sealers of the first, in its own order.
    for (const places of [
      [0, 1],
      [1, 0],
    ]) {
      const ordered = places.map((place) => recipients[place] as RecipientKey);
      const reply = await run({ count: 2, recipients: ordered });
      for (const bytes of plaintexts) assert.equal(holds(reply, bytes), false);
      const { rows, sealed } = made(reply);
      for (const [i, { sealedKeys }] of sealed.entries()) {
        const row = rows[i];
        assert.ok(row?.sealed);
        const seals = sealsOf(row.sealed);
        const keys = new Set<string>();
        for (const [j, sealedKey] of sealedKeys.entries()) {
          const opened = await open({ sealedKey, recipientKey: ordered[j] as RecipientKey });
          keys.add(Buffer.from(opened.key).toString('hex'));
          assert.deepEqual(row.commitment, keyring.commit(opened.key));
          assert.deepEqual(
            headerRecipients(opened.header),
            places.map((place) => names[place]),
          );
          assert.deepEqual(Buffer.from(opened.digest), Buffer.from(seals[j]?.digest ?? []));
          assert.deepEqual(
            Buffer.from(seals[j]?.recipient ?? []),
            Buffer.from(thumbprints[places[j] ?? 0] ?? []),
          );
        }
        assert.deepEqual([sealedKeys.length, seals.length, keys.size], [2, 2, 1]);
      }
    }
    assert.ok(generated.every(({ key, opening }) => isWiped(key) && opening && isWiped(opening)));
  });
});
