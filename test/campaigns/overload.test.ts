/**
 * A server with a slow suite delays plain keys and nothing else. With more requests than it can queue, it refuses some
 * at once, shares its places between accounts, and answers the rest.
 */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { slowSuite } from '../support/faults/slow-suite.ts';
import {
  DEMO_KEY,
  DEMO_PROFESSIONAL_KEY,
  makeDataDir,
  removeDataDir,
  Server,
} from '../support/servers/server.ts';

/** Simultaneous requests: many more than an account's half of a suite worker's queue. */
const CROWD = 400;
const HALF_OF_THE_QUEUE = 128;

const PLAIN = { security_level: 256 };
const WITH_EVIDENCE = { security_level: 128, enable_nist_validation: true };

/** Requests for validated keys that wait for a suite worker, or that were processed. */
async function suiteJobs(server: Server): Promise<number> {
  const page = await server.scrape();
  const series = ['phm_queue_waiting', 'phm_queue_wait_seconds_count'];
  const counts = series.map((name) => {
    const line = page.split('\n').find((one) => one.startsWith(`${name}{queue="suite"} `));
    assert.ok(line, name);
    return Number(line.split(' ')[1]);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

const dataDir = makeDataDir();
/** While this file exists, the suite hangs on samples of the generator of plain keys. */
const slowFile = join(dataDir, 'slow');
let server: Server;
before(async () => {
  server = await Server.start(dataDir, {
    PHM_RATE_LIMITS: 'off',
    PHM_METRICS_PORT: '0',
    ...slowSuite(slowFile),
  });
});
after(async () => {
  await server?.stop('SIGKILL');
  removeDataDir(dataDir);
});

describe('a server whose suite is slow', () => {
  // The tests below count the keys of the other demo account.
  const generate = () => server.generate(PLAIN, DEMO_PROFESSIONAL_KEY);

  it('delays plain keys until the verdict, but no other request', async () => {
    const { body } = await generate();
    writeFileSync(slowFile, '');
    // A sample is drawn before this key, the last key that may be released without its verdict.
    assert.equal((await generate()).status, 200);
    let answered = 0;
    const held = Array.from({ length: 3 }, async () => {
      const answer = await generate();
      answered += 1;
      return answer;
    });
    for (let i = 0; i < 3; i++) {
      assert.equal((await server.validate({ key: body.key })).body.valid, true);
      assert.equal((await server.metrics()).status, 200);
    }
    assert.equal(answered, 0);
    rmSync(slowFile);
    for (const { status } of await Promise.all(held)) assert.equal(status, 200);
  });
});

describe('an overloaded server', () => {
  it('answers 503 when the suite queue is full, and still serves plain requests', async () => {
    const tested = Array.from({ length: CROWD }, () => server.generate(WITH_EVIDENCE));
    let finished = 0;
    for (const one of tested) void one.then(() => finished++);
    const refused = await Promise.any(
      tested.map(async (one) => ((await one).status === 503 ? one : Promise.reject())),
    );
    assert.equal(refused.body.code, 'overloaded');
    assert.match(refused.headers.get('retry-after') ?? '', /^[1-9][0-9]*$/);
    // The suite is busy with its jobs; a plain key does not wait for it.
    const plain = await server.generate(PLAIN);
    assert.equal(plain.status, 200);
    assert.ok(finished < CROWD, 'the plain request was answered before the suite was done');
    const answers = await Promise.all(tested);
    const count = (code?: string) => answers.filter(({ body }) => body.code === code).length;
    const [served, overloaded] = [count(), count('overloaded')];
    // On a slow machine, some that got a place wait for the suite longer than they may.
    assert.equal(served + overloaded + count('entropy_unavailable'), CROWD);
    assert.ok(CROWD - overloaded > HALF_OF_THE_QUEUE, `${CROWD - overloaded} got a place`);
    const { performance } = (await server.metrics()).body.metrics;
    const failures = CROWD - served;
    assert.equal(performance.error_rate, failures / (served + 1 + failures));
  });

  it('leaves room in the suite queue for an account beside a busy one', async () => {
    const before = await suiteJobs(server);
    const busy = Array.from({ length: CROWD }, () => server.generate(WITH_EVIDENCE, DEMO_KEY));
    while ((await suiteJobs(server)) < before + HALF_OF_THE_QUEUE) await delay(5);
    const other = await Promise.all(
      Array.from({ length: 8 }, () => server.generate(WITH_EVIDENCE, DEMO_PROFESSIONAL_KEY)),
    );
    // On a machine with much other work, a request that got its place may wait too long for the suite.
    const codes = other.filter(({ status }) => status !== 200).map(({ body }) => body.code);
    assert.ok(!codes.includes('overloaded'), `${codes} for an account with 8 requests`);
    const refused = (await Promise.all(busy)).filter(({ status }) => status === 503);
    assert.ok(refused.length > 0, `${refused.length} of the busy account's were refused`);
    const ofItsShare =
      /^phm_http_request_duration_seconds_count\{.*status="5xx",own_share="yes"\} (\d+)$/m;
    const [, counted] = ofItsShare.exec(await server.scrape()) ?? [];
    assert.ok(Number(counted) >= refused.length, `${counted} of them were counted as such`);
  });

  it('completes requests in progress when the listener closes', async () => {
    const before = await suiteJobs(server);
    const underWay = [1, 2, 3].map(() =>
      server.generate({ security_level: 256, enable_nist_validation: true }),
    );
    while ((await suiteJobs(server)) < before + underWay.length) await delay(5);
    const exit = server.stop('SIGINT');
    for (const one of underWay) assert.equal((await one).status, 200);
    assert.equal(await exit, 0);
  });
});
