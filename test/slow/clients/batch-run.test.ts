/** A run of `phm generate --output-dir` that is interrupted anywhere ends with the right number of files. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { CommandError } from '../../../packages/platform/src/commands/command-error.ts';
import { KeyDirectory } from '../../../src/cli/client/batch/directory.ts';
import { BatchRun, type BatchWork, type CallOutcome } from '../../../src/cli/client/batch/run.ts';
import {
  difference,
  formatState,
  isBlank,
  newState,
  type PendingCall,
  parseState,
} from '../../../src/cli/client/batch/state.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'batch-'));
after(() => rmSync(FOLDER, { recursive: true, force: true }));

const HOUR_MS = 3_600_000;

/** Generates keys like the service: an Idempotency-Key makes keys once and is known for a day. */
class Service {
  readonly isSealed: boolean;
  readonly keyIds: string[] = [];
  readonly #answers = new Map<string, { keyIds: string[]; atMs: number }>();
  nowMs = 1e12;
  maxCount = 100;

  constructor(isSealed: boolean) {
    this.isSealed = isSealed;
  }

  send({ idempotencyKey, count }: PendingCall): CallOutcome {
    const known = this.#answers.get(idempotencyKey);
    if (known && this.nowMs - known.atMs < 24 * HOUR_MS) {
      const { keyIds } = known;
      return this.isSealed ? toOutcome(keyIds) : { kind: 'lost', keyIds };
    }
    if (count > this.maxCount) return { kind: 'too_large', maxCount: this.maxCount, isFirst: true };
    const first = this.keyIds.length + 1;
    const keyIds = Array.from({ length: count }, (_, i) => `phm_${first + i}`);
    this.#answers.set(idempotencyKey, { keyIds, atMs: this.nowMs });
    this.keyIds.push(...keyIds);
    return toOutcome(keyIds);
  }
}

function toOutcome(keyIds: readonly string[]): CallOutcome {
  return {
    kind: 'keys',
    keys: keyIds.map((keyId) => ({ keyId, content: Buffer.from(`content of ${keyId}\n`) })),
  };
}

interface Told {
  lost: string[];
  unknown: number;
}

const never = new AbortController().signal;

function workOf(service: Service, count: number, told: Told): BatchWork {
  return {
    count,
    isReplayable: service.isSealed,
    send: async (call) => service.send(call),
    onProgress: () => {},
    onLost: (keyIds) => told.lost.push(...keyIds),
    onUnknown: (keys) => {
      told.unknown += keys;
    },
    signal: never,
    now: () => service.nowMs,
  };
}

const OPTIONS = { '--count': 7 };
const noneTold = (): Told => ({ lost: [], unknown: 0 });
const newPath = (): string => join(mkdtempSync(join(FOLDER, 'd-')), 'keys');

class Killed extends Error {}

/** Lets a process die at its `at`-th step: before or after a step's effect, or in the middle of the files. */
function dieAt(at: number, directory: KeyDirectory, work: BatchWork): BatchWork {
  let step = 0;
  const dies = (): void => {
    if (step++ === at) throw new Killed();
  };
  const { saveState, write } = directory;
  directory.saveState = (state) => {
    dies();
    saveState.call(directory, state);
    dies();
  };
  directory.write = (keys) => {
    dies();
    write.call(directory, keys.slice(0, keys.length / 2));
    dies();
    write.call(directory, keys);
    dies();
  };
  const send: BatchWork['send'] = async (call) => {
    dies();
    const outcome = await work.send(call);
    dies();
    return outcome;
  };
  return { ...work, send };
}

/** Runs the command once, as far as it gets. Returns true if it ended. */
async function runOnce(
  path: string,
  service: Service,
  count: number,
  told: Told,
  at = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const directory = KeyDirectory.open(path, '.key');
  const state = directory.readState() ?? newState(OPTIONS, 'f');
  const work = dieAt(at, directory, workOf(service, count, told));
  try {
    await new BatchRun(directory, state, work).finish();
    return true;
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
    return false;
  }
}

const filesIn = (path: string): string[] => readdirSync(path).filter((name) => /key$/.test(name));

/** Each key of the service has one complete file or is known to be lost. */
function assertAccounts(path: string, service: Service, count: number): void {
  const files = filesIn(path);
  assert.equal(files.length, count);
  const state = parseState(readFileSync(join(path, 'batch.json'), 'utf8'));
  assert.ok(state?.completedMs);
  const accounted = [...files.map((name) => name.replace('.key', '')), ...state.lostKeyIds];
  assert.deepEqual(accounted.toSorted(), service.keyIds.toSorted());
  for (const name of files) {
    const keyId = name.replace('.key', '');
    assert.equal(readFileSync(join(path, name), 'utf8'), `content of ${keyId}\n`);
    assert.equal(statSync(join(path, name)).mode & 0o777, 0o600);
  }
}

describe('a run that fills a directory', () => {
  for (const isSealed of [true, false]) {
    it(`accounts for each key if it dies anywhere: ${isSealed ? 'sealed' : 'plain'}`, async () => {
      // Deaths one after the other, then a whole run.
      const deaths = fc.array(fc.nat(24), { maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(deaths, fc.constantFrom(3, 100), async (steps, maxCount) => {
          const path = newPath();
          const service = new Service(isSealed);
          service.maxCount = maxCount;
          const told = noneTold();
          for (const at of steps) await runOnce(path, service, 7, told, at);
          assert.ok(await runOnce(path, service, 7, told));
          assertAccounts(path, service, 7);
          // A call that died before a refusal may have been in progress elsewhere.
          if (maxCount === 100) assert.equal(told.unknown, 0);
          if (isSealed) assert.equal(service.keyIds.length, 7);
          for (const keyId of told.lost) assert.ok(!filesIn(path).includes(`${keyId}.key`));
        }),
        { numRuns: 20 },
      );
    });
  }

  it('names plain keys that were lost between answer and files, and replaces them', async () => {
    const path = newPath();
    const service = new Service(false);
    const told = noneTold();
    // Steps 0 and 1 save the call, 2 and 3 surround it: the answer is lost.
    assert.equal(await runOnce(path, service, 3, told, 3), false);
    assert.deepEqual(filesIn(path), []);
    assert.ok(await runOnce(path, service, 3, told));
    assert.deepEqual(told, { lost: ['phm_1', 'phm_2', 'phm_3'], unknown: 0 });
    assertAccounts(path, service, 3);
  });

  it('says that keys may be lost if the service no longer knows the call', async () => {
    for (const isSealed of [true, false]) {
      const path = newPath();
      const service = new Service(isSealed);
      const told = noneTold();
      await runOnce(path, service, 3, told, 3);
      service.nowMs += 30 * HOUR_MS;
      assert.ok(await runOnce(path, service, 3, told));
      assert.deepEqual(told, { lost: [], unknown: 3 });
      assert.equal(filesIn(path).length, 3);
      assert.equal(service.keyIds.length, 6);
    }
  });

  it('names sealed keys whose files it cannot complete in time', async () => {
    const path = newPath();
    const service = new Service(true);
    const told = noneTold();
    // Step 7 is in the middle of the files.
    await runOnce(path, service, 4, told, 7);
    assert.equal(filesIn(path).length, 2);
    service.nowMs += 30 * HOUR_MS;
    assert.ok(await runOnce(path, service, 4, told));
    assert.deepEqual(told, { lost: ['phm_3', 'phm_4'], unknown: 0 });
    assertAccounts(path, service, 4);
  });

  it('keeps sealed keys, and names lost plain ones, if the disk is full', async () => {
    for (const isSealed of [true, false]) {
      const path = newPath();
      const service = new Service(isSealed);
      const told = noneTold();
      const directory = KeyDirectory.open(path, '.key');
      const { write } = directory;
      directory.write = (keys) => {
        write.call(directory, keys.slice(0, 3));
        throw new CommandError('full', 1);
      };
      const run = new BatchRun(directory, newState(OPTIONS, 'f'), workOf(service, 7, told));
      await assert.rejects(run.finish(), /full/);
      const lost = ['phm_4', 'phm_5', 'phm_6', 'phm_7'];
      assert.deepEqual(told.lost, isSealed ? [] : lost);
      assert.ok(await runOnce(path, service, 7, noneTold()));
      assertAccounts(path, service, 7);
      assert.equal(service.keyIds.length, isSealed ? 7 : 11);
    }
  });

  it('forgets a call that the service refused at once, and keeps one that may have succeeded', async () => {
    const path = newPath();
    const directory = KeyDirectory.open(path, '.key');
    const error = new CommandError('refused', 1);
    const work = workOf(new Service(true), 7, noneTold());
    const refuses = { ...work, send: async () => ({ kind: 'refused', error }) as const };
    const run = new BatchRun(directory, newState(OPTIONS, 'f'), refuses);
    await assert.rejects(run.finish(), error);
    assert.ok(isBlank(run.state));
    const fails = { ...work, send: () => Promise.reject(new CommandError('failed', 1)) };
    const failed = new BatchRun(directory, run.state, fails);
    await assert.rejects(failed.finish(), /failed/);
    const resumed = new BatchRun(directory, failed.state, refuses);
    await assert.rejects(resumed.finish(), error);
    assert.deepEqual(resumed.state, failed.state);
    assert.ok(resumed.state.call);
  });

  it('makes smaller calls if the service refuses a large one, and says what that may have lost', async () => {
    for (const isFirst of [true, false]) {
      const service = new Service(false);
      const told = noneTold();
      const directory = KeyDirectory.open(newPath(), '.key');
      const counts: number[] = [];
      const send: BatchWork['send'] = async (call) => {
        counts.push(call.count);
        return call.count > 3 ? { kind: 'too_large', maxCount: 3, isFirst } : service.send(call);
      };
      const work = { ...workOf(service, 30, told), send };
      await new BatchRun(directory, newState(OPTIONS, 'f'), work).finish();
      assert.equal(service.keyIds.length, 30);
      // After eight calls it tries twice as many.
      const eight = Array.from({ length: 8 }, () => 3);
      assert.deepEqual(counts, [30, ...eight, 6, 3, 3]);
      assert.equal(told.unknown === 0, isFirst);
    }
  });

  it('ends between two calls when it is interrupted', async () => {
    const path = newPath();
    const service = new Service(false);
    const directory = KeyDirectory.open(path, '.key');
    const controller = new AbortController();
    const work = workOf(service, 250, noneTold());
    const send: BatchWork['send'] = (call) => {
      controller.abort('interrupted');
      return work.send(call);
    };
    const run = new BatchRun(directory, newState(OPTIONS, 'f'), {
      ...work,
      send,
      signal: controller.signal,
    });
    await assert.rejects(run.finish(), (reason) => reason === 'interrupted');
    assert.equal(filesIn(path).length, 100);
    assert.deepEqual([run.state.made, run.state.call], [100, null]);
  });
});

describe('the directory of a run', () => {
  it('removes the unfinished files of a killed process', () => {
    const path = newPath();
    const directory = KeyDirectory.open(path, '.key');
    const left = ['phm_1.key.0123456789abcdef.new', 'batch.json.0123456789abcdef.new'];
    const others = ['mine.new', 'phm_1.key.new', 'notes'];
    for (const name of [...left, ...others]) writeFileSync(join(path, name), 'x');
    directory.close();
    KeyDirectory.open(path, '.key').close();
    assert.deepEqual(readdirSync(path).toSorted(), others.toSorted());
  });

  it('belongs to one process, until that ends', () => {
    const path = newPath();
    KeyDirectory.open(path, '.key');
    const lock = join(path, 'batch.lock');
    const { pid, host } = JSON.parse(readFileSync(lock, 'utf8'));
    assert.equal(pid, process.pid);
    writeFileSync(lock, JSON.stringify({ pid: 1, host }));
    assert.throws(() => KeyDirectory.open(path, '.key'), /another phm \(process 1\) fills .*keys/);
    writeFileSync(lock, JSON.stringify({ pid: 2 ** 30, host: `${host}x` }));
    assert.throws(() => KeyDirectory.open(path, '.key'), /If it no longer runs, remove .*lock$/);
    writeFileSync(lock, JSON.stringify({ pid: 2 ** 30, host }));
    KeyDirectory.open(path, '.key').close();
    assert.deepEqual(readdirSync(path), []);
  });

  it('is free after a process that was killed, also if its parent does not know', {
    skip: process.platform !== 'linux',
  }, async () => {
    const parent = spawn('sh', ['-c', 'sleep 600 & echo $!; exec sleep 600']);
    const [line] = await once(parent.stdout, 'data');
    // A shell collects its children, and sleep does not: the child ends only after exec.
    while (readFileSync(`/proc/${parent.pid}/comm`, 'utf8') !== 'sleep\n') await setTimeout(5);
    process.kill(Number(line), 'SIGKILL');
    const stat = `/proc/${Number(line)}/stat`;
    while (!readFileSync(stat, 'utf8').includes(') Z ')) await setTimeout(5);
    const path = newPath();
    KeyDirectory.open(path, '.key');
    const lock = join(path, 'batch.lock');
    writeFileSync(lock, JSON.stringify({ pid: Number(line), host: hostname() }));
    KeyDirectory.open(path, '.key').close();
    parent.kill();
  });

  it('is refused if it is a file, has no parent, or holds another state file', () => {
    const path = newPath();
    writeFileSync(path, 'x');
    assert.throws(() => KeyDirectory.open(path, '.key'), /keys exists and is not a directory/);
    const missing = join(newPath(), 'keys');
    assert.throws(() => KeyDirectory.open(missing, '.key'), /there is no such directory/);
    const other = newPath();
    const directory = KeyDirectory.open(other, '.key');
    for (const content of ['', '{}', '[1]', '{"type":"phm-batch/v2"}', '\0']) {
      writeFileSync(join(other, 'batch.json'), content);
      assert.throws(() => directory.readState(), /batch\.json is not a state file of this version/);
    }
  });
});

describe('the state file', () => {
  const call = {
    idempotencyKey: 'a',
    count: 3,
    sentMs: 1e12,
    keyIds: ['phm_1'],
    digests: ['ab'.repeat(32)],
  };
  const state = {
    ...newState({ '--count': 7, '--validate': true, '--include': ['receipt'] }, 'f'),
    made: 4,
    lostKeyIds: ['phm_2'],
    unknown: 2,
    completedMs: 1e12 + 1,
    call,
  };

  it('is read as it was written', () => {
    for (const one of [
      state,
      newState({}, 'f', 1e12 + 2),
      { ...state, call: null },
      { ...state, call: { ...call, keyIds: null, digests: [] } },
      newState({}, 'f'),
    ]) {
      assert.deepEqual(parseState(formatState(one)), one);
    }
  });

  it('is refused if a member is missing or wrong', () => {
    const json = JSON.parse(formatState(state));
    for (const name of Object.keys(json)) {
      assert.equal(parseState(JSON.stringify({ ...json, [name]: undefined })), null, name);
      assert.equal(parseState(JSON.stringify({ ...json, [name]: [-1] })), null, name);
    }
    for (const name of Object.keys(json.call)) {
      const wrong = { ...json, call: { ...json.call, [name]: [-1] } };
      assert.equal(parseState(JSON.stringify(wrong)), null, name);
    }
    assert.equal(parseState(JSON.stringify({ ...json, expires_at: 'soon' })), null);
    // A key ID becomes the name of a file.
    const path = { ...json, call: { ...json.call, key_ids: ['phm_1/../../x'] } };
    assert.equal(parseState(JSON.stringify(path)), null);
  });

  it('names the option in which two runs differ', () => {
    const there = { '--count': 10, '--validate': true, '--include': ['receipt'] };
    assert.equal(difference(there, { ...there }), null);
    assert.equal(difference(there, { ...there, '--count': 11 }), '--count is 10 there and 11 here');
    assert.equal(
      difference(there, { '--count': 10, '--include': ['receipt'] }),
      '--validate is set there and not set here',
    );
    assert.equal(
      difference(there, { ...there, '--include': ['receipt', 'nist_report'] }),
      '--include is receipt there and receipt nist_report here',
    );
  });
});
