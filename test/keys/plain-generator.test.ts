/** Plain keys of a key worker wait for evidence on their generator, and are dropped if it fails. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { SampleVerdict } from '../../src/keys/evidence-suite.ts';
import { entropyUnavailable, Generator } from '../../src/keys/generator.ts';
import { type JudgeSample, PlainGenerator } from '../../src/keys/plain-generator.ts';
import { judgeSample } from '../../src/keys/self-test.ts';
import type { LedgerStore, MeteredRequest } from '../../src/ledger/index.ts';
import type { Keyring } from '../../src/proof/index.ts';
import { KeyWorker } from '../../src/service/threads/key-worker.ts';
import type { KeyBatchReply, KeyTask } from '../../src/service/threads/messages.ts';
import {
  fakeSource,
  keyring,
  order,
  parts,
  RecordingDrbg,
  sampleVerdict,
} from '../support/servers/fakes.ts';

const SAMPLE_BYTES = 131_072;
const requester = { accountId: 'a', apiKeyId: 'k', atMs: 0 };
const generate: KeyTask = { kind: 'generate', requester, order: order(), idempotency: null };
const gather: KeyTask = { kind: 'gather_evidence', isLast: false };
const gatherLast: KeyTask = { kind: 'gather_evidence', isLast: true };
const validate: KeyTask = { kind: 'validate', requester, key: undefined, proof: undefined };

/** A key worker, its samples, and the commits that reach its store. */
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
  const samples: {
    readonly bytes: Uint8Array;
    readonly answer: (verdict: SampleVerdict) => void;
  }[] = [];
  const clock = { nowMs: 0 };
  const generator = new Generator(parts({ os, drbg }));
  const plain = new PlainGenerator(generator, (bytes, answer) => samples.push({ bytes, answer }), {
    interval,
    now: () => ({ monotonicMs: clock.nowMs, wallMs: clock.nowMs }),
  });
  const keys: Uint8Array[] = [];
  const spy = {
    makeProof: (key: Uint8Array) => {
      keys.push(key);
      return keyring.makeProof(key);
    },
    commit: (key: Uint8Array) => keyring.commit(key),
    commitOthers: () => [],
  } as unknown as Keyring;
  const worker = new KeyWorker(plain, spy, store);
  let id = 0;
  const run = (...tasks: KeyTask[]): Promise<KeyBatchReply> =>
    worker.run({ id: ++id, tasks, failures: [] });
  /** Lets the first sample pass, as at the startup of a service. */
  const start = async () => {
    assert.deepEqual(kinds(await run(gather)), ['evidence_pending']);
    samples.shift()?.answer(sampleVerdict(true));
    assert.deepEqual(kinds(await run(gather)), ['evidence_gathered']);
  };
  return { run, start, samples, commits, database, keys, clock, generator, plain, drbg };
}

const kinds = ({ results }: KeyBatchReply) => results.map(({ kind }) => kind);

/** Runs the pending turns of the event loop, so that everything that can continue has continued. */
const settle = () => setImmediate();

describe('plain keys', () => {
  it('are not generated before a first sample has passed', async () => {
    const { run, samples, commits, keys } = makeWorker();
    const early = await run(generate);
    assert.deepEqual([kinds(early), early.awaitsVerdict], [['evidence_pending'], true]);
    assert.deepEqual([samples.length, commits, keys], [1, [], []]);
    assert.equal(samples[0]?.bytes.length, SAMPLE_BYTES);
    samples[0]?.answer(sampleVerdict(true));
    const reply = await run(generate);
    assert.deepEqual([kinds(reply), reply.awaitsVerdict], [['generated'], false]);
  });

  it('are generated while a sample is judged, until the next one is due', async () => {
    const { run, start, samples, commits } = makeWorker({ interval: 3 });
    await start();
    await run(generate, generate, generate);
    assert.equal(samples.length, 0);
    // The sample is drawn before the fourth key; three may follow it.
    await run(generate, generate);
    assert.equal(samples.length, 1);
    const held = await run(generate, generate);
    assert.deepEqual([kinds(held), held.awaitsVerdict], [['generated', 'evidence_pending'], true]);
    assert.deepEqual(commits, [3, 2, 1]);
    samples.shift()?.answer(sampleVerdict(true));
    assert.deepEqual(kinds(await run(generate)), ['generated']);
    assert.equal(samples.length, 1, 'the next one was due');
  });

  it('wait for a second sample after a failure, unlike validations of the same batch', async () => {
    const { run, start, samples, commits } = makeWorker({ interval: 2 });
    await start();
    await run(generate, generate);
    await run(generate);
    samples.shift()?.answer(sampleVerdict(false));
    assert.equal(samples.length, 1, 'the second sample is drawn at once');
    assert.deepEqual(kinds(await run(generate, validate)), ['evidence_pending', 'validated']);
    assert.deepEqual(commits, [2, 1, 1]);
    samples.shift()?.answer(sampleVerdict(true));
    assert.deepEqual(kinds(await run(generate)), ['generated']);
  });

  it('are wiped and regenerated if a sample fails while they wait for an earlier commit', async () => {
    const { run, start, samples, commits, database, keys } = makeWorker({ interval: 2 });
    await start();
    await run(generate, generate);
    await run(generate);
    const { promise, resolve } = Promise.withResolvers<void>();
    database.answers = promise;
    const before = run(validate);
    const held = run(generate, validate);
    await settle();
    assert.equal(keys.length, 4);
    samples.shift()?.answer(sampleVerdict(false));
    resolve();
    assert.deepEqual(kinds(await before), ['validated']);
    assert.deepEqual(kinds(await held), ['evidence_pending', 'validated']);
    assert.deepEqual(commits, [2, 1, 1, 1]);
    assert.ok(keys.at(-1)?.every((byte) => byte === 0));
    samples.shift()?.answer(sampleVerdict(true));
    assert.deepEqual(kinds(await run(generate)), ['generated']);
  });

  it('are wiped and regenerated if a sample failed meanwhile, although the second one passed', async () => {
    const { run, start, samples, commits, database, keys } = makeWorker({ interval: 2 });
    await start();
    await run(generate, generate);
    await run(generate);
    const { promise, resolve } = Promise.withResolvers<void>();
    database.answers = promise;
    const before = run(validate);
    const held = run(generate, validate);
    await settle();
    samples.shift()?.answer(sampleVerdict(false));
    samples.shift()?.answer(sampleVerdict(true));
    resolve();
    await before;
    const reply = await held;
    assert.deepEqual(kinds(reply), ['evidence_pending', 'validated']);
    assert.equal(reply.awaitsVerdict, false, 'the key is made again at once');
    assert.deepEqual(commits, [2, 1, 1, 1]);
    assert.ok(keys.at(-1)?.every((byte) => byte === 0));
  });

  it('are wiped if a sample fails during their commit, although the second one passes', async () => {
    const { run, start, samples, database, keys } = makeWorker({ interval: 2 });
    await start();
    await run(generate, generate);
    const { promise, resolve } = Promise.withResolvers<void>();
    database.answers = promise;
    const reply = run(generate, validate);
    await settle();
    samples.shift()?.answer(sampleVerdict(false));
    samples.shift()?.answer(sampleVerdict(true));
    resolve();
    const { results } = await reply;
    assert.ok(results[0]?.kind === 'failed', results[0]?.kind);
    assert.equal(results[0].failure.code, 'entropy_unavailable');
    assert.equal(results[1]?.kind, 'validated');
    assert.ok(keys.at(-1)?.every((byte) => byte === 0));
    const [next] = (await run(generate)).results;
    assert.ok(next?.kind === 'generated');
    assert.equal(next.failures, 1, 'the main thread compares it with the failures that it saw');
  });

  it('are wiped if a sample fails during their commit, without a delay for the batch', async () => {
    const { run, start, samples, database, keys } = makeWorker({ interval: 2 });
    await start();
    await run(generate, generate);
    const { promise, resolve } = Promise.withResolvers<void>();
    database.answers = promise;
    const reply = run(generate, validate);
    await settle();
    samples.shift()?.answer(sampleVerdict(false));
    resolve();
    const { results } = await reply;
    assert.ok(results[0]?.kind === 'failed');
    assert.equal(results[0].failure.code, 'entropy_unavailable');
    assert.equal(results[1]?.kind, 'validated');
    assert.ok(keys.at(-1)?.every((byte) => byte === 0));
  });

  it('end if the second sample fails as well: the process latches', async () => {
    const { run, start, samples, commits, generator, plain, drbg } = makeWorker({ interval: 2 });
    await start();
    const released = [...(await run(generate, generate)).results, ...(await run(generate)).results];
    samples.shift()?.answer(sampleVerdict(false));
    samples.shift()?.answer(sampleVerdict(false));
    const reply = await run(generate, validate);
    const { results } = reply;
    assert.ok(results[0]?.kind === 'failed');
    assert.equal(results[0].failure.code, 'entropy_unavailable');
    assert.equal(results[1]?.kind, 'validated');
    assert.equal(reply.awaitsVerdict, false);
    assert.deepEqual(commits, [2, 1, 1], 'the validation alone was committed');
    const { cause, test, detail } = generator.latched ?? assert.fail();
    assert.deepEqual([cause, test], ['gate', 'rank']);
    assert.match(detail, /generator of plain keys/);
    assert.ok(drbg.destroyed);
    const ids = released.flatMap((one) => (one.kind === 'generated' ? [one.keys[0]?.keyId] : []));
    assert.equal(ids.length, 3);
    assert.deepEqual(plain.unvouchedKeys(), ids);
  });

  it('continue from nine minutes after the last good sample, while the next is judged', async () => {
    const { run, start, samples, clock } = makeWorker({ interval: 100 });
    await start();
    clock.nowMs = 539_999;
    await run(generate);
    assert.equal(samples.length, 0);
    clock.nowMs = 540_000;
    assert.deepEqual(kinds(await run(generate)), ['generated']);
    assert.equal(samples.length, 1);
    clock.nowMs = 600_000;
    assert.deepEqual(kinds(await run(generate, validate)), ['evidence_pending', 'validated']);
    samples.shift()?.answer(sampleVerdict(true));
    assert.deepEqual(kinds(await run(generate)), ['generated']);
  });

  it('need not wait on an idle server, because it still draws samples', async () => {
    const { run, start, samples, clock, plain } = makeWorker({ interval: 100 });
    await start();
    plain.refresh();
    assert.equal(samples.length, 0);
    for (let minutes = 9; minutes < 60; minutes += 9) {
      clock.nowMs = minutes * 60_000;
      plain.refresh();
      samples.shift()?.answer(sampleVerdict(true));
    }
    clock.nowMs += 539_999;
    assert.deepEqual(kinds(await run(generate)), ['generated']);
    assert.equal(samples.length, 0);
  });

  it('wait for a new sample if none was judged for ten minutes', async () => {
    const { run, start, samples, clock } = makeWorker({ interval: 100 });
    await start();
    clock.nowMs = 600_000;
    assert.deepEqual(kinds(await run(generate)), ['evidence_pending']);
    samples.shift()?.answer(sampleVerdict(true));
    assert.deepEqual(kinds(await run(generate)), ['generated']);
  });

  it('are regenerated if the ledger delayed them beyond their time limit', async () => {
    const { run, start, samples, commits, clock } = makeWorker({ interval: 100 });
    await start();
    clock.nowMs = 539_999;
    const held = run(generate);
    clock.nowMs = 600_000;
    const reply = await held;
    // No sample is being judged, so the task must be sent again at once.
    assert.deepEqual([kinds(reply), reply.awaitsVerdict], [['evidence_pending'], false]);
    assert.deepEqual([samples.length, commits], [0, []]);
    assert.deepEqual(kinds(await run(generate)), ['evidence_pending']);
    samples.shift()?.answer(sampleVerdict(true));
    assert.deepEqual(kinds(await run(generate)), ['generated']);
  });

  it('get a final sample at shutdown if any was released since the last good one', async () => {
    const { run, start, samples, plain } = makeWorker({ interval: 100 });
    await start();
    await run(generate, generate);
    const reply = await run(gatherLast);
    assert.deepEqual([kinds(reply), reply.awaitsVerdict], [['evidence_pending'], true]);
    samples.shift()?.answer(sampleVerdict(true));
    assert.deepEqual(kinds(await run(gatherLast)), ['evidence_gathered']);
    assert.deepEqual([samples.length, plain.unvouchedKeys()], [0, []]);
  });

  it('are covered at shutdown by two good samples in a row after a failure', async () => {
    const { run, start, samples, plain } = makeWorker({ interval: 100 });
    await start();
    await run(generate);
    for (const passes of [false, true, true]) {
      assert.deepEqual(kinds(await run(gatherLast)), ['evidence_pending']);
      samples.shift()?.answer(sampleVerdict(passes));
    }
    assert.deepEqual(kinds(await run(gatherLast)), ['evidence_gathered']);
    assert.deepEqual(plain.unvouchedKeys(), []);
  });

  it('are listed if the samples at shutdown fail', async () => {
    const { run, start, samples, plain, generator } = makeWorker({ interval: 100 });
    await start();
    const [released] = (await run(generate)).results;
    assert.ok(released?.kind === 'generated');
    await run(gatherLast);
    for (let i = 0; i < 2; i++) samples.shift()?.answer(sampleVerdict(false));
    assert.deepEqual(kinds(await run(gatherLast)), ['evidence_gathered']);
    assert.equal(generator.latched?.cause, 'gate');
    assert.deepEqual(plain.unvouchedKeys(), [released.keys[0]?.keyId]);
  });

  it('fail while no sample can be drawn, then recover', async () => {
    const os = fakeSource('os', 256);
    let fails = false;
    const draw = () => {
      if (fails) throw entropyUnavailable('staged');
      return { bytes: Buffer.alloc(48, 1), creditBits: 256, isSeparate: false, jobId: null };
    };
    const { run, start, samples, clock, generator, plain } = makeWorker({ os: { ...os, draw } });
    await start();
    clock.nowMs = 600_000;
    fails = true;
    plain.refresh();
    const [result] = (await run(generate)).results;
    assert.ok(result?.kind === 'failed');
    assert.equal(result.failure.code, 'entropy_unavailable');
    assert.deepEqual([samples.length, generator.latched], [0, null]);
    fails = false;
    plain.refresh();
    samples.shift()?.answer(sampleVerdict(true));
    assert.deepEqual(kinds(await run(generate)), ['generated']);
  });

  it('end within one interval if the generator repeats each byte: the suite fails it', async () => {
    let broken = false;
    const drbg = new RecordingDrbg((output) => {
      if (broken) for (let i = 1; i < output.length; i += 2) output[i] = output[i - 1];
    });
    const generator = new Generator(parts({ drbg }));
    const suite: JudgeSample = (sample, answer) => answer(judgeSample(sample));
    const plain = new PlainGenerator(generator, suite, { interval: 5 });
    assert.ok(plain.hasEvidence());
    broken = true;
    const make = () => plain.make((one) => one.reseed('os'));
    for (let i = 0; i < 5; i++) assert.ok(make());
    // The sixth key draws a sample, which fails, and so does the second one.
    assert.throws(make, { code: 'entropy_unavailable' });
    assert.equal(generator.latched?.cause, 'gate');
    assert.throws(make, { code: 'entropy_unavailable' });
  });
});
