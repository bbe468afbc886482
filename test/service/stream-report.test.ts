/** The full report on a key's stream: its sample, and the threads it reaches. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { gate, score } from '#sp800-22';
import { runEvidenceSuite } from '../../src/keys/evidence-suite.ts';
import { generateKey } from '../../src/keys/generate.ts';
import type { GeneratedKey, KeyOrder, ReleasedKey } from '../../src/keys/order.ts';
import { unpackPValues } from '../../src/keys/p-values.ts';
import type { Principal } from '../../src/ledger/index.ts';
import { Modulator } from '../../src/modulation/index.ts';
import type { KeyService } from '../../src/service/service.ts';
import type { PackedBatch } from '../../src/service/threads/messages.ts';
import {
  fakeGenerator,
  keyRequest,
  keyring,
  order,
  PRESENT,
  RecordingDrbg,
  SCREEN_REQUESTS,
  SCREEN_RESEEDS,
  sampleRequests,
} from '../support/servers/fakes.ts';
import { startKeyService } from '../support/servers/key-service.ts';
import { makeDataDir, removeDataDir } from '../support/servers/server.ts';

function generate(drbg: RecordingDrbg, changes: Partial<KeyOrder>): GeneratedKey {
  const counts = { streams: 0, streamsPassed: 0 };
  return generateKey(fakeGenerator(drbg), keyring, order(changes), counts);
}

/** Returns carrier and modulated sample of the stream whose first request of the DRBG is number `at`. */
function sampleOf(
  { copies }: RecordingDrbg,
  at: number,
  keyBytes = 32,
): { carrier: Buffer; modulated: Buffer } {
  const requests = sampleRequests(keyBytes);
  const parts = copies.slice(at, at + requests.length + 1);
  assert.deepEqual(
    parts.map(({ length }) => length),
    [...requests, 64],
  );
  const phases = parts.pop() ?? assert.fail();
  const carrier = Buffer.concat(parts);
  return { carrier, modulated: new Modulator('phase', phases).modulate(carrier, 0) };
}

describe('the report of a stream', () => {
  it('covers the sample that precedes the key in its stream, also for 384 bits', () => {
    for (const securityLevel of [256, 384] as const) {
      const drbg = new RecordingDrbg();
      const { report, evidence } = generate(drbg, {
        withEvidence: true,
        report: true,
        securityLevel,
      });
      const { carrier, modulated } = sampleOf(
        drbg,
        SCREEN_REQUESTS.length,
        securityLevel === 384 ? 24 : 32,
      );
      assert.ok(report?.modulated && evidence);
      assert.deepEqual(report.carrier, runEvidenceSuite(carrier));
      const only = ['frequency', 'block_frequency', 'runs', 'longest_run'] as const;
      assert.deepEqual(report.modulated, runEvidenceSuite(modulated, only));
      assert.equal(report.streamsJudged, 1);
      assert.deepEqual(report.gate, gate(report.carrier, report.modulated));
      assert.equal(report.gate.tests, 17, '13 on the carrier, 4 on the modulated sample');
      assert.equal(report.gate.p, evidence.gateP);
      assert.equal(report.carrier.testsPassed, evidence.testsPassed);
      assert.equal(report.carrier.totalTests, evidence.totalTests);
      assert.equal(score(report.carrier), evidence.score);
    }
  });

  it('contains only the carrier if there is no modulation', () => {
    const drbg = new RecordingDrbg();
    const { report, evidence } = generate(drbg, {
      withEvidence: true,
      report: true,
      modulation: 'none',
    });
    assert.ok(report && evidence);
    assert.equal(report.modulated, null);
    assert.deepEqual(
      report.carrier,
      runEvidenceSuite(sampleOf(drbg, SCREEN_REQUESTS.length).carrier),
    );
    assert.deepEqual(report.gate, gate(report.carrier));
    assert.ok(
      unpackPValues(evidence.pValues).modulated.tests.every(({ applicable }) => !applicable),
    );
  });

  it('covers the second stream if the first failed the gate, and says so', () => {
    const drbg = new RecordingDrbg((output, reseeds) => {
      if (reseeds === SCREEN_RESEEDS + 1 && output.length > 64) output.fill(0x55);
    });
    const { report } = generate(drbg, { withEvidence: true, report: true });
    const { carrier } = sampleOf(drbg, SCREEN_REQUESTS.length + 1 + sampleRequests(32).length);
    assert.ok(report);
    assert.equal(report.streamsJudged, 2);
    assert.equal(report.gate.verdict, 'PASS');
    assert.deepEqual(report.carrier, runEvidenceSuite(carrier));
  });

  it('exists only if the order requests it and the stream was judged', () => {
    for (const [withEvidence, report] of [
      [true, false],
      [false, true],
      [false, false],
    ]) {
      assert.equal(generate(new RecordingDrbg(), { withEvidence, report }).report, null);
    }
  });
});

describe('the report between the threads', () => {
  const dataDir = makeDataDir();
  let service: KeyService;
  let principal: Principal;

  before(async () => {
    ({ service, principal } = await startKeyService(dataDir));
  });
  after(async () => {
    await service.close();
    removeDataDir(dataDir);
  });

  async function generated(changes: Partial<KeyOrder>): Promise<ReleasedKey> {
    const outcome = await service.generate(principal, keyRequest(changes), PRESENT);
    assert.ok(outcome.kind === 'generated');
    return outcome.keys[0] ?? assert.fail();
  }

  it('leaves the suite worker only on request', async () => {
    assert.equal((await generated({ withEvidence: true })).report, null);
    const { report } = await generated({ withEvidence: true, report: true });
    assert.equal(report?.carrier.bits, 2 ** 20);
  });

  it('does not reach the ledger writer', async (t) => {
    const sent = t.mock.method(Worker.prototype, 'postMessage');
    const { report } = await generated({ withEvidence: true, report: true });
    const recorded = sent.mock.calls
      .map(({ arguments: [message] }) => message as PackedBatch)
      .flatMap(({ others = [] }) => others)
      .filter(({ kind }) => kind === 'record');
    assert.equal(recorded.length, 1);
    assert.ok(report);
    const text = JSON.stringify(recorded, (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    assert.ok(text.includes(String(report.gate.p)), 'the summary is there');
    for (const { name } of report.carrier.tests) assert.ok(!text.includes(name), name);
  });
});
