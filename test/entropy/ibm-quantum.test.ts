import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { NATIVE_CIRCUIT } from '../../src/entropy/sources/circuit.ts';
import {
  type IbmQuantumSettings,
  MAX_SHOTS,
  openIbmQuantum,
} from '../../src/entropy/sources/ibm-quantum.ts';
import { readShots, toQubitMajor } from '../../src/entropy/sources/sampler-result.ts';
import { API_KEY, CRN, FakeIbm, SECRETS, TOKEN_PREFIX } from './fake-ibm.ts';
import { type Answer, assertFails, type Misbehaviour } from './fake-service.ts';

const never = new AbortController().signal;

/** Returns the last body that the fake received on a route. */
const lastOf = <T>(list: readonly T[] | undefined): T => {
  const last = list?.at(-1);
  assert.ok(last !== undefined);
  return last;
};

const sampleResult = (samples: unknown, extra: object = {}) => ({
  results: [{ data: { c: { samples, ...extra } }, metadata: {} }],
  metadata: { version: 2 },
});

describe('sampler results', () => {
  it('are shots of eight bits, as in the documented answer', () => {
    const answer = sampleResult(['0x3', '0x0', '0xff', '0xA1'], { num_bits: 8 });
    assert.deepEqual(readShots(answer, 4), Uint8Array.of(3, 0, 255, 161));
    assert.deepEqual(readShots(sampleResult(['0x3']), 1), Uint8Array.of(3));
  });

  it('are refused if a shot has another form or the number of shots is wrong', () => {
    for (const shot of ['0x100', '3', '0x', '-0x3', '0xg0', ' 0x3', '0x3\n', 3, null, '']) {
      assert.equal(readShots(sampleResult(['0x1', shot]), 2), null, String(shot));
    }
    assert.equal(readShots(sampleResult(['0x1']), 2), null);
    assert.equal(readShots(sampleResult(['0x1', '0x1', '0x1']), 2), null);
  });

  it('are refused in any other shape', () => {
    const two = sampleResult(['0x1']);
    for (const answer of [
      null,
      'Completed',
      [],
      {},
      { results: [] },
      { results: [...two.results, ...two.results] },
      { results: [{ data: { meas: { samples: ['0x1'] } } }] },
      sampleResult('0x1'),
      sampleResult(['0x1'], { num_bits: 7 }),
    ]) {
      assert.equal(readShots(answer, 1), null, JSON.stringify(answer));
    }
  });

  it('become bits, with all shots of qubit 0 first', () => {
    const bits = toQubitMajor(Uint8Array.of(0b0000_0001, 0b1000_0011, 0b0000_0000));
    assert.equal(bits.join(''), ['110', '010', '000', '000', '000', '000', '000', '010'].join(''));
  });
});

describe('the ibm-quantum reader', () => {
  it('claims half a bit per raw bit, and 320 extracted bits per draw', async (t) => {
    const reader = (await FakeIbm.start(t)).open(t);
    assert.equal(reader.bitsPerSample, 1);
    assert.equal(reader.minEntropyPerSample, 0.5);
    assert.equal(reader.bytesPerDraw, 40);
  });

  it('reads the shots of one job, with a stuck qubit as one run', async (t) => {
    const fake = await FakeIbm.start(t);
    fake.shots = Array.from({ length: 256 }, (_, i) => 0b0100_0000 | (i % 2));
    const { samples, jobId } = await fake.open(t).read(never);
    assert.equal(jobId, 'job-1');
    assert.equal(samples.length, 2048);
    assert.equal(samples.subarray(0, 256).join(''), '01'.repeat(128));
    assert.equal(samples.subarray(6 * 256, 7 * 256).join(''), '1'.repeat(256));
    assert.equal(samples.subarray(7 * 256).join(''), '0'.repeat(256));
    assert.equal(fake.service.count('cancel'), 0);
  });

  it('requests the native circuit as a private job of limited cost', async (t) => {
    const fake = await FakeIbm.start(t);
    await fake.open(t, { shots: 258 }).read(never);
    const { headers, body } = lastOf(fake.service.received.create);
    assert.deepEqual(JSON.parse(body), {
      program_id: 'sampler',
      backend: 'ibm_fake',
      cost: 60,
      private: true,
      params: { version: 2, pubs: [[NATIVE_CIRCUIT, null, 258]] },
    });
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['service-crn'], CRN);
    assert.equal(headers['ibm-api-version'], '2026-04-15');
  });

  it('extracts from pairs of one qubit, into its own memory', async (t) => {
    const fake = await FakeIbm.start(t);
    // Qubit 0 alternates 10, qubit 1 alternates 01, the others are stuck.
    fake.shots = Array.from({ length: 256 }, (_, i) => (i % 2 === 0 ? 0b1101 : 0b1110));
    const reader = fake.open(t);
    const { samples } = await reader.read(never);
    const extracted = reader.extract?.(samples);
    assert.deepEqual(extracted, Uint8Array.from([...Array(16).fill(0xff), ...Array(16).fill(0)]));
    samples.fill(0);
    assert.equal(extracted?.[0], 0xff);
  });

  it('keeps no copy: each batch has its own job and its own memory', async (t) => {
    const fake = await FakeIbm.start(t);
    const reader = fake.open(t);
    const first = await reader.read(never);
    const second = await reader.read(never);
    assert.deepEqual([first.jobId, second.jobId], ['job-1', 'job-2']);
    assert.notEqual(first.samples.buffer, second.samples.buffer);
    for (const [i, batch] of [first, second].entries()) {
      const shots = Uint8Array.from(fake.delivered[i] ?? []);
      assert.deepEqual(batch.samples, toQubitMajor(shots));
    }
  });

  it('returns a repeated block, because the health tests must find it', async (t) => {
    const fake = await FakeIbm.start(t);
    fake.shots = Array.from({ length: 256 }, (_, i) => i);
    const reader = fake.open(t);
    const { samples: first } = await reader.read(never);
    const { samples: second } = await reader.read(never);
    assert.deepEqual(first, second);
    first.fill(0);
    assert.notDeepEqual(first, second);
  });

  it('treats an unknown status as an unfinished job', async (t) => {
    const fake = await FakeIbm.start(t);
    fake.states = ['Validating', 'Queued', 'Completed'];
    await fake.open(t).read(never);
    assert.equal(fake.service.count('state'), 3);
  });
});

describe('the token of the ibm-quantum reader', () => {
  it('is fetched once while it is valid', async (t) => {
    const fake = await FakeIbm.start(t);
    const reader = fake.open(t);
    await reader.read(never);
    await reader.read(never);
    assert.equal(fake.service.count('token'), 1);
  });

  it('is renewed before it expires', async (t) => {
    const fake = await FakeIbm.start(t);
    fake.tokenLife = 0;
    await fake.open(t).read(never);
    // The submission (before it, and with it), three polls and the results each ask for a token.
    assert.equal(fake.service.count('token'), 6);
  });

  it('is renewed once if the service refuses it', async (t) => {
    const fake = await FakeIbm.start(t);
    const reader = fake.open(t);
    await reader.read(never);
    fake.revokeTokens();
    await reader.read(never);
    assert.equal(fake.service.count('token'), 2);
  });

  it('is not fetched again after the service refuses a fresh one', async (t) => {
    const fake = await FakeIbm.start(t);
    fake.service.plan('create', { status: 401 }, { status: 401 });
    await assertFails(
      fake.open(t).read(never),
      /^IBM Quantum refused the credentials \(401\): check PHM_IBM_API_KEY and PHM_IBM_SERVICE_CRN$/,
      SECRETS,
    );
    assert.equal(fake.service.count('token'), 2);
  });

  it('is not granted for a wrong API key: IAM answers 400', async (t) => {
    const fake = await FakeIbm.start(t);
    const wrong = 'wrong-key-0123456789';
    await assertFails(
      fake.open(t, { apiKey: wrong }).read(never),
      /^IBM Cloud IAM refused the API key \(400\): check PHM_IBM_API_KEY or PHM_IBM_API_KEY_FILE$/,
      [...SECRETS, wrong],
    );
    assert.equal(fake.service.count('create'), 0);
  });

  it('is refused if a header cannot contain it', async (t) => {
    const fake = await FakeIbm.start(t);
    const access_token = `${TOKEN_PREFIX}\r\nx: y`;
    fake.service.plan('token', { body: { access_token, expires_in: 3600 } });
    await assertFails(fake.open(t).read(never), /in an unknown form/, SECRETS);
  });
});

interface Failure {
  readonly name: string;
  readonly route: 'token' | 'create' | 'state' | 'results';
  readonly answers: readonly (Answer | Misbehaviour)[];
  readonly message: RegExp;
  /** True if a job remains that is no longer awaited. */
  readonly cancels: boolean;
}

const thrice = <T>(answer: T): T[] => [answer, answer, answer];

const FAILURES: readonly Failure[] = [
  {
    name: 'IAM is down',
    route: 'token',
    answers: [{ status: 503, body: 'note of the server' }],
    message: /^IBM Cloud IAM is out of service \(503\)/,
    cancels: false,
  },
  {
    name: 'the instance has no time left',
    route: 'create',
    answers: [{ status: 409, body: { errors: ['note of the server'] } }],
    message: /the instance has reached its usage limit/,
    cancels: false,
  },
  {
    name: 'the circuit or backend is rejected',
    route: 'create',
    answers: [{ status: 400, body: { errors: ['note of the server'] } }],
    message: /rejected the request \(400\): check PHM_IBM_URL and the settings/,
    cancels: false,
  },
  {
    name: 'the service is forbidden',
    route: 'create',
    answers: [{ status: 403 }],
    message: /refused the credentials \(403\)/,
    cancels: false,
  },
  {
    name: 'the connection is cut at submission',
    route: 'create',
    answers: ['cut'],
    message: /could not be reached \(UND_ERR_SOCKET\): check PHM_IBM_URL/,
    cancels: false,
  },
  {
    name: 'the service redirects',
    route: 'create',
    answers: [{ status: 307, headers: { location: 'http://127.0.0.1:9/note of the server' } }],
    message: /could not be reached \(it redirects\)/,
    cancels: false,
  },
  {
    name: 'a job ID could change the request path',
    route: 'create',
    answers: [{ body: { id: '../usage' } }],
    message: /answered the new job in an unknown form/,
    cancels: false,
  },
  {
    name: 'the state belongs to another protocol',
    route: 'state',
    answers: [{ body: { status: 'note of the server' } }],
    message: /answered the state of a job in an unknown form/,
    cancels: true,
  },
  {
    name: 'three polls in a row get status 500',
    route: 'state',
    answers: thrice({ status: 500 }),
    message: /out of service \(500\)/,
    cancels: true,
  },
  {
    name: 'the job fails',
    route: 'state',
    answers: [{ body: { state: { status: 'Failed', reason: 'note of the server' } } }],
    message: /^IBM Quantum ended a job as failed/,
    cancels: false,
  },
  {
    name: 'the service cancels the job',
    route: 'state',
    answers: [{ body: { state: { status: 'Cancelled - Ran too long' } } }],
    message: /^IBM Quantum ended a job as cancelled/,
    cancels: false,
  },
  {
    name: 'the results have too few shots',
    route: 'results',
    answers: [{ body: sampleResult(Array(255).fill('0x1')) }],
    message: /answered the results of a job in an unknown form/,
    cancels: false,
  },
  {
    name: 'the results are an HTML page',
    route: 'results',
    answers: [{ body: '<html>note of the server</html>' }],
    message: /answered with something that is not JSON/,
    cancels: false,
  },
  {
    name: 'the results do not end',
    route: 'results',
    answers: ['endless'],
    message: /answered with more than 69632 bytes/,
    cancels: false,
  },
  {
    name: 'the results are cut off three times',
    route: 'results',
    answers: thrice('cut-body'),
    message: /could not be reached/,
    cancels: false,
  },
];

describe('the ibm-quantum reader fails, with a remedy and without a secret, if', () => {
  for (const { name, route, answers, message, cancels } of FAILURES) {
    it(name, async (t) => {
      const fake = await FakeIbm.start(t);
      fake.service.plan(route, ...answers);
      const reader = fake.open(t);
      await assertFails(reader.read(never), message, SECRETS);
      await reader.close();
      assert.equal(fake.service.count('cancel'), cancels ? 1 : 0);
    });
  }

  it('an answer takes too long', async (t) => {
    for (const how of ['silent', 'slow-body'] as const) {
      const fake = await FakeIbm.start(t);
      fake.service.plan('create', how);
      const reader = fake.open(t, {}, { requestMs: 60 });
      await assertFails(reader.read(never), /^IBM .* did not answer within 60 ms/, SECRETS);
    }
  });

  it('the service limits requests, and reports the service’s retry time', async (t) => {
    const fake = await FakeIbm.start(t);
    const body = { errors: ['note of the server'] };
    fake.service.plan('create', { status: 429, headers: { 'retry-after': '120' }, body });
    const error = await assertFails(
      fake.open(t).read(never),
      /accepts no more requests for now \(429\)/,
      SECRETS,
    );
    assert.equal(error.retryAfterMs, 120_000);
  });
});

describe('a job of the ibm-quantum reader', { concurrency: true }, () => {
  it('survives polls that fail for a temporary reason', async (t) => {
    const fake = await FakeIbm.start(t);
    fake.states = ['Queued', 'Queued', 'Completed'];
    fake.service.plan('state', { status: 503 }, 'cut', {
      status: 200,
      body: { state: { status: 'Queued' } },
    });
    fake.service.plan('results', { status: 502 });
    const { samples } = await fake.open(t).read(never);
    assert.equal(samples.length, 2048);
    assert.equal(fake.service.count('cancel'), 0);
  });

  it('is cancelled exactly once if the caller stops waiting for it', async (t) => {
    const fake = await FakeIbm.start(t);
    fake.states = ['Queued'];
    const reader = fake.open(t);
    const caller = new AbortController();
    const reading = reader.read(caller.signal);
    await fake.service.reached('state', 3);
    caller.abort();
    await assertFails(reading, /was stopped/, SECRETS);
    await reader.close();
    await reader.close();
    assert.equal(fake.service.count('cancel'), 1);
    assert.equal(lastOf(fake.service.received.cancel).path, '/api/v1/jobs/job-1/cancel');
  });

  it('is cancelled exactly once by close, which waits for the cancellation', async (t) => {
    const fake = await FakeIbm.start(t);
    fake.states = ['Running'];
    const reader = fake.open(t);
    const reading = assertFails(reader.read(never), /was stopped/, SECRETS);
    await fake.service.reached('state', 1);
    await reader.close();
    assert.equal(fake.service.count('cancel'), 1);
    await reading;
  });

  it('is cancelled if it takes too long', async (t) => {
    const fake = await FakeIbm.start(t);
    fake.states = ['Queued'];
    const reader = fake.open(t, {}, { jobMs: 1_000 });
    await assertFails(
      reader.read(never),
      /did not finish a job within .* hours: choose a backend with a shorter queue/,
      SECRETS,
    );
    await reader.close();
    assert.equal(fake.service.count('cancel'), 1);
  });

  it('is cancelled even if the caller stopped during its submission', async (t) => {
    const fake = await FakeIbm.start(t);
    const reader = fake.open(t);
    const caller = new AbortController();
    const reading = reader.read(caller.signal);
    await fake.service.reached('create', 1);
    caller.abort();
    await assertFails(reading, /was stopped/, SECRETS);
    await reader.close();
    assert.equal(fake.service.count('cancel'), 1);
    assert.equal(fake.service.count('state'), 0);
  });

  it('is not submitted after the caller stopped, or by a closed reader', async (t) => {
    const fake = await FakeIbm.start(t);
    const reader = fake.open(t);
    await assertFails(reader.read(AbortSignal.abort()), /was stopped/, SECRETS);
    fake.service.plan('token', 'silent');
    const caller = new AbortController();
    const reading = reader.read(caller.signal);
    await fake.service.reached('token', 1);
    caller.abort();
    await assertFails(reading, /was stopped/, SECRETS);
    await reader.close();
    await assertFails(reader.read(never), /was stopped/, SECRETS);
    assert.equal(fake.service.count('create'), 0);
  });

  it('does not delay close if the service does not answer the cancellation', async (t) => {
    const fake = await FakeIbm.start(t);
    fake.states = ['Queued'];
    fake.service.plan('cancel', 'silent');
    const reader = fake.open(t, {}, { cancelMs: 300 });
    const reading = assertFails(reader.read(never), /was stopped/, SECRETS);
    await fake.service.reached('state', 1);
    await reader.close();
    await reading;
    assert.equal(fake.service.count('cancel'), 1);
  });
});

describe('openIbmQuantum', () => {
  const settings: IbmQuantumSettings = {
    apiKey: API_KEY,
    serviceCrn: CRN,
    backend: 'ibm_fake',
    shots: 1024,
  };
  const opening = (change: Partial<IbmQuantumSettings>) => () =>
    openIbmQuantum({ ...settings, ...change });

  it('sends no request', async (t: TestContext) => {
    const fake = await FakeIbm.start(t);
    await fake.open(t).close();
    assert.equal(fake.service.count('token'), 0);
    await openIbmQuantum(settings).close();
  });

  it('accepts only https: except for this machine, and quotes no address', () => {
    for (const url of [
      'http://quantum.example/secret-path',
      'ftp://127.0.0.1/secret-path',
      'secret-path',
      'http://127.0.0.1.example/secret-path',
      'https://user:secret-path@quantum.example',
      'https://quantum.example/?key=secret-path',
      'https://quantum.example/#secret-path',
    ]) {
      for (const change of [{ url }, { iamUrl: url }]) {
        assert.throws(opening(change), (error: unknown) => {
          assert.ok(error instanceof RangeError, String(error));
          return !error.message.includes('secret-path') && !error.stack?.includes('secret-path');
        });
      }
    }
    for (const url of [
      'http://localhost:8000',
      'http://[::1]:8000/v1/',
      'https://quantum.example',
    ]) {
      assert.doesNotThrow(opening({ url }));
    }
  });

  it('accepts an even number of shots, because pairs are of one qubit', () => {
    for (const shots of [0, 254, 257, 1024.5, Number.NaN, MAX_SHOTS + 2]) {
      assert.throws(opening({ shots }), RangeError);
    }
    assert.doesNotThrow(opening({ shots: MAX_SHOTS }));
  });

  it('refuses what a header cannot contain, without quoting it', () => {
    for (const change of [{ apiKey: 'se cret' }, { serviceCrn: 'secret\n' }, { backend: '' }]) {
      assert.throws(opening(change), (error: unknown) => {
        assert.ok(error instanceof TypeError);
        return !/secret|se cret/.test(error.message);
      });
    }
    assert.throws(opening({ apiVersion: 'latest' }), RangeError);
  });
});
