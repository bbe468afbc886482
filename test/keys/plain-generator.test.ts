/** Plain keys of a key worker wait for the judgement of their generator, and are dropped when it fails. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { entropyUnavailable, Generator } from '../../src/keys/generator.ts';
import { KeyWorker } from '../../src/keys/key-worker.ts';
import type { KeyBatchReply, KeyTask } from '../../src/keys/messages.ts';
import { PlainGenerator } from '../../src/keys/plain-generator.ts';
import type { LedgerStore, MeteredRequest } from '../../src/ledger/index.ts';
import type { Keyring } from '../../src/proof/index.ts';
import { type Gate, gate, runPackedSuite } from '../../src/sts/index.ts';
import { fakeSource, keyring, order, parts, RecordingDrbg, verdict } from './fakes.ts';

const SAMPLE_BYTES = 131_072;
const requester = { accountId: 'a', apiKeyId: 'k', atMs: 0 };
const generate: KeyTask = { kind: 'generate', requester, order: order() };
const validate: KeyTask = { kind: 'validate', requester, key: undefined, proof: undefined };

/** A key worker, the samples that it hands out, and the commits that reach its store. */
function makeWorker({ interval = 3, os = fakeSource('os', 256), drbg = new RecordingDrbg() } = {}) {
  const commits: number[] = [];
  const database = { answers: Promise.resolve() };
  const store = {
    commit: async (requests: readonly MeteredRequest[]) => {
      commits.push(requests.length);
      await database.answers;
      return requests.map(() => ({ kind: 'committed', usage: { month: 1, used: 1, quota: null } }));
    },
  } as unknown as LedgerStore;
  const samples: { readonly bytes: Uint8Array; readonly answer: (gate: Gate) => void }[] = [];
  const clock = { nowMs: 0 };
  const generator = new Generator(parts({ os, drbg }));
  const plain = new PlainGenerator(
    generator,
    (bytes) => new Promise((answer) => samples.push({ bytes, answer })),
    { interval, now: () => ({ monotonicMs: clock.nowMs, wallMs: clock.nowMs }) },
  );
  const keys: Uint8Array[] = [];
  const spy = {
    makeProof: (key: Uint8Array) => {
      keys.push(key);
      return keyring.makeProof(key);
    },
    commit: (key: Uint8Array) => keyring.commit(key),
  } as unknown as Keyring;
  const worker = new KeyWorker(plain, spy, store);
  let id = 0;
  const run = (...tasks: KeyTask[]): Promise<KeyBatchReply> =>
    worker.run({ id: ++id, tasks, failures: [] });
  /** The first sample passes, as at the start of a service. */
  const start = async () => {
    const judged = run({ kind: 'judge' });
    samples.shift()?.answer(verdict(true));
    assert.equal((await judged).results[0]?.kind, 'judged');
  };
  return { run, start, samples, commits, database, keys, clock, generator, plain, drbg };
}

const kinds = ({ results }: KeyBatchReply) => results.map(({ kind }) => kind);

/** Ends the pending turns of the event loop, so that what can go on has done so. */
const settle = () => setImmediate();

describe('plain keys', () => {
  it('are not committed before a first sample has passed', async () => {
    const { run, samples, commits } = makeWorker();
    const reply = run(generate);
    await settle();
    assert.deepEqual([samples.length, commits], [1, []]);
    assert.equal(samples[0]?.bytes.length, SAMPLE_BYTES);
    samples[0]?.answer(verdict(true));
    assert.deepEqual(kinds(await reply), ['generated']);
  });

  it('are committed while a sample is judged, until the next one is due', async () => {
    const { run, start, samples, commits } = makeWorker({ interval: 3 });
    await start();
    await run(generate, generate, generate);
    assert.equal(samples.length, 0);
    // The sample is drawn before the fourth key; three may follow it.
    await run(generate, generate);
    assert.equal(samples.length, 1);
    const held = run(generate, generate);
    await settle();
    assert.deepEqual(commits, [3, 2]);
    samples.shift()?.answer(verdict(true));
    assert.deepEqual(kinds(await held), ['generated', 'generated']);
    assert.equal(samples.length, 0);
    await run(generate);
    assert.equal(samples.length, 1, 'the next one was due');
  });

  it('wait for a second sample after a failure; validations do not', async () => {
    const { run, start, samples, commits } = makeWorker({ interval: 2 });
    await start();
    await run(generate, generate);
    await run(generate);
    samples.shift()?.answer(verdict(false));
    await settle();
    assert.equal(samples.length, 1, 'the second sample is drawn at once');
    assert.deepEqual(kinds(await run(validate)), ['validated']);
    const held = run(generate, validate);
    await settle();
    assert.deepEqual(commits, [2, 1, 1]);
    samples.shift()?.answer(verdict(true));
    assert.deepEqual(kinds(await held), ['generated', 'validated']);
  });

  it('are dropped and wiped when the second sample fails as well, and the process latches', async () => {
    const { run, start, samples, commits, generator, plain, drbg } = makeWorker({ interval: 2 });
    await start();
    const released = [...(await run(generate, generate)).results, ...(await run(generate)).results];
    samples.shift()?.answer(verdict(false));
    await settle();
    const held = run(generate, validate);
    await settle();
    samples.shift()?.answer(verdict(false));
    const { results } = await held;
    assert.ok(results[0]?.kind === 'failed');
    assert.equal(results[0].failure.code, 'entropy_unavailable');
    assert.equal(results[1]?.kind, 'validated');
    assert.deepEqual(commits, [2, 1, 1], 'the validation alone was committed');
    const { cause, test, detail } = generator.latched ?? assert.fail();
    assert.deepEqual([cause, test], ['gate', 'rank']);
    assert.match(detail, /generator of plain keys/);
    assert.ok(drbg.destroyed);
    const ids = released.flatMap((one) => (one.kind === 'generated' ? [one.keyId] : []));
    assert.equal(ids.length, 3);
    assert.deepEqual(plain.unjudgedKeys(), ids);
  });

  it('wait for a new sample when the last good one is ten minutes old', async () => {
    const { run, start, samples, commits, clock } = makeWorker({ interval: 100 });
    await start();
    clock.nowMs = 599_999;
    await run(generate);
    assert.equal(samples.length, 0);
    clock.nowMs = 600_000;
    const held = run(generate);
    await settle();
    assert.deepEqual([samples.length, commits], [1, [1]]);
    samples.shift()?.answer(verdict(true));
    assert.deepEqual(kinds(await held), ['generated']);
  });

  it('are judged anew when they were made in time and the ledger held them up', async () => {
    const { run, start, samples, commits, clock } = makeWorker({ interval: 100 });
    await start();
    clock.nowMs = 599_999;
    const held = run(generate);
    clock.nowMs = 600_000;
    await settle();
    assert.deepEqual([samples.length, commits], [1, []]);
    samples.shift()?.answer(verdict(true));
    assert.deepEqual(kinds(await held), ['generated']);
  });

  it('wait before their answer as well, when a sample fails during their commit', async () => {
    for (const passes of [true, false]) {
      const { run, start, samples, database, keys } = makeWorker({ interval: 2 });
      await start();
      await run(generate, generate);
      const { promise, resolve } = Promise.withResolvers<void>();
      database.answers = promise;
      const held = run(generate, validate);
      await settle();
      samples.shift()?.answer(verdict(false));
      await settle();
      resolve();
      await settle();
      assert.equal(samples.length, 1);
      let answered = false;
      void held.then(() => {
        answered = true;
      });
      await settle();
      assert.equal(answered, false);
      samples.shift()?.answer(verdict(passes));
      const { results } = await held;
      assert.equal(results[0]?.kind, passes ? 'generated' : 'failed');
      assert.equal(results[1]?.kind, 'validated');
      assert.equal(
        keys.at(-1)?.every((byte) => byte === 0),
        !passes,
        'wiped, if it is dropped',
      );
    }
  });

  it('fail while no sample can be drawn, and recover', async () => {
    const os = fakeSource('os', 256);
    let fails = false;
    const draw = () => {
      if (fails) throw entropyUnavailable('staged');
      return { bytes: Buffer.alloc(48, 1), creditBits: 256, isSeparate: false, jobId: null };
    };
    const { run, start, samples, clock, generator } = makeWorker({ os: { ...os, draw } });
    await start();
    const late = run(generate);
    clock.nowMs = 600_000;
    fails = true;
    for (const reply of [late, run(generate)]) {
      const [result] = (await reply).results;
      assert.ok(result?.kind === 'failed');
      assert.equal(result.failure.code, 'entropy_unavailable');
    }
    assert.equal(generator.latched, null);
    fails = false;
    const recovered = run(generate);
    await settle();
    samples.shift()?.answer(verdict(true));
    assert.deepEqual(kinds(await recovered), ['generated']);
  });

  it('of a generator that repeats each byte end within one interval, by the suite itself', async () => {
    let broken = false;
    const drbg = new RecordingDrbg((output) => {
      if (broken) for (let i = 1; i < output.length; i += 2) output[i] = output[i - 1];
    });
    const generator = new Generator(parts({ drbg }));
    const suite = async (sample: Uint8Array) => gate(runPackedSuite(sample));
    const plain = new PlainGenerator(generator, suite, { interval: 5 });
    await plain.whenJudged();
    broken = true;
    for (let i = 0; i <= 5; i++) plain.make((one) => one.reseed('os'));
    while (!generator.latched) await settle();
    assert.equal(generator.latched.cause, 'gate');
    assert.throws(() => plain.make((one) => one.reseed('os')), { code: 'entropy_unavailable' });
  });
});
