import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QRNG_PROFILES, type QrngProfileName } from '../../src/config/index.ts';
import { parseRetryAfter } from '../../src/entropy/sources/_json-request.ts';
import { openQrng } from '../../src/entropy/sources/qrng.ts';
import { API_KEY, FakeQrng, SECRETS } from './fake-qrng.ts';
import { type Answer, assertFails, type Misbehaviour } from './fake-service.ts';

const never = new AbortController().signal;
const BATCH: Record<QrngProfileName, number> = { 'open-api': 1_024, anu: 1_024, outshift: 1_000 };

const bodyOf = (fake: FakeQrng) => JSON.parse(fake.service.received.entropy?.at(-1)?.body ?? '');

describe('every profile of the qrng reader', () => {
  for (const profile of QRNG_PROFILES) {
    it(`${profile}: reads the bytes of the service, without a job`, async (t) => {
      const fake = await FakeQrng.start(t, profile);
      const reader = fake.open(t);
      const { samples, jobId } = await reader.read(never);
      assert.equal(jobId, null);
      assert.equal(samples.length, BATCH[profile]);
      assert.deepEqual(Buffer.from(samples), fake.delivered[0]);
      assert.equal(samples.buffer.byteLength, samples.length);
      assert.equal(reader.bitsPerSample, 8);
      assert.ok(reader.bytesPerDraw * reader.minEntropyPerSample >= 256);
    });

    it(`${profile}: reads every value from 0 to 255`, async (t) => {
      const fake = await FakeQrng.start(t, profile);
      fake.bytes = Uint8Array.from({ length: BATCH[profile] }, (_, i) => i);
      const { samples } = await fake.open(t).read(never);
      assert.deepEqual(Buffer.from(samples), Buffer.from(fake.bytes));
    });

    it(`${profile}: requests each batch anew and returns a repeated one`, async (t) => {
      const fake = await FakeQrng.start(t, profile);
      const reader = fake.open(t);
      const first = await reader.read(never);
      fake.bytes = fake.delivered[0] ?? null;
      const second = await reader.read(never);
      assert.equal(fake.service.count('entropy'), 2);
      assert.deepEqual(first.samples, second.samples);
      first.samples.fill(0);
      assert.deepEqual(Buffer.from(second.samples), fake.delivered[0]);
      fake.bytes = null;
      const { samples: third } = await reader.read(never);
      assert.deepEqual(Buffer.from(third), fake.delivered[2]);
    });

    it(`${profile}: recovers after a failure`, async (t) => {
      const fake = await FakeQrng.start(t, profile);
      const reader = fake.open(t);
      fake.service.plan('entropy', { status: 503 });
      await assertFails(reader.read(never), /out of service \(503\)/, SECRETS);
      assert.equal((await reader.read(never)).samples.length, BATCH[profile]);
    });

    it(`${profile}: stops a request if the caller aborts or closes the reader`, async (t) => {
      const fake = await FakeQrng.start(t, profile);
      fake.service.plan('entropy', 'silent', 'silent');
      const reader = fake.open(t);
      const caller = new AbortController();
      const aborted = reader.read(caller.signal);
      await fake.service.reached('entropy', 1);
      caller.abort();
      await assertFails(aborted, /was stopped/, SECRETS);
      const closed = reader.read(never);
      await fake.service.reached('entropy', 2);
      await reader.close();
      await assertFails(closed, /was stopped/, SECRETS);
      await assertFails(reader.read(never), /was stopped/, SECRETS);
      await assertFails(fake.open(t).read(AbortSignal.abort()), /was stopped/, SECRETS);
      assert.equal(fake.service.count('entropy'), 2);
    });
  }
});

interface Failure {
  readonly name: string;
  readonly answer: Answer | Misbehaviour;
  readonly message: RegExp;
}

const UNKNOWN_FORM = /in an unknown form: check PHM_QRNG_URL and PHM_QRNG_PROFILE/;

const FAILURES: readonly Failure[] = [
  {
    name: 'the API key is unknown',
    answer: { status: 401, body: { message: 'note of the server' } },
    message: /refused the credentials \(401\): check PHM_QRNG_API_KEY or PHM_QRNG_API_KEY_FILE/,
  },
  {
    name: 'the API key is forbidden',
    answer: { status: 403, body: { message: 'note of the server' } },
    message: /refused the credentials \(403\)/,
  },
  {
    name: 'a parameter is wrong',
    answer: { status: 422 },
    message: /rejected the request \(422\)/,
  },
  { name: 'the service is down', answer: { status: 500 }, message: /out of service \(500\)/ },
  {
    name: 'the connection is cut',
    answer: 'cut',
    message: /could not be reached \(UND_ERR_SOCKET\)/,
  },
  { name: 'the body is cut', answer: 'cut-body', message: /could not be reached/ },
  {
    name: 'the body does not end',
    answer: 'endless',
    message: /answered with more than \d+ bytes/,
  },
  {
    name: 'the service redirects',
    answer: { status: 302, headers: { location: 'http://127.0.0.1:9/' } },
    message: /could not be reached \(it redirects\)/,
  },
  {
    name: 'a refusal has status 200 and is text',
    answer: { body: 'note of the server: one request a minute' },
    message: /answered with something that is not JSON/,
  },
  { name: 'the answer is empty', answer: {}, message: UNKNOWN_FORM },
  { name: 'the answer has another shape', answer: { body: { data: [] } }, message: UNKNOWN_FORM },
];

describe('the qrng reader fails, with a remedy and without a secret, if', () => {
  for (const profile of QRNG_PROFILES) {
    for (const { name, answer, message } of FAILURES) {
      it(`${profile}: ${name}`, async (t) => {
        const fake = await FakeQrng.start(t, profile);
        fake.service.plan('entropy', answer);
        await assertFails(fake.open(t).read(never), message, SECRETS);
      });
    }
  }

  it('an answer or its body takes too long', async (t) => {
    for (const how of ['silent', 'slow-body'] as const) {
      const fake = await FakeQrng.start(t, 'anu');
      fake.service.plan('entropy', how);
      await assertFails(fake.open(t, {}, 50).read(never), /did not answer within 50 ms/, SECRETS);
    }
  });

  it('no service listens', async () => {
    const reader = openQrng({ profile: 'anu', url: 'http://127.0.0.1:2', apiKey: API_KEY });
    await assertFails(reader.read(never), /could not be reached \(ECONNREFUSED\)/, SECRETS);
  });

  it('the service limits requests, and reports the service’s retry time', async (t) => {
    const fake = await FakeQrng.start(t, 'anu');
    fake.service.plan('entropy', { status: 429, headers: { 'retry-after': '7' } }, { status: 429 });
    const reader = fake.open(t);
    const asked = await assertFails(reader.read(never), /no more requests for now/, SECRETS);
    assert.equal(asked.retryAfterMs, 7_000);
    const silent = await assertFails(reader.read(never), /no more requests for now/, SECRETS);
    assert.equal(silent.retryAfterMs, null);
  });
});

describe('Retry-After (RFC 9110 §10.2.3)', () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 0);

  it('contains seconds or a date', () => {
    assert.equal(parseRetryAfter('120', now), 120_000);
    assert.equal(parseRetryAfter('0', now), 0);
    assert.equal(parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', now), 37_000);
  });

  it('is limited to the range from now to one hour', () => {
    assert.equal(parseRetryAfter('86400', now), 3_600_000);
    assert.equal(parseRetryAfter('Tue, 06 Nov 2040 08:49:37 GMT', now), 3_600_000);
    assert.equal(parseRetryAfter('Sat, 05 Nov 1994 08:49:37 GMT', now), 0);
  });

  it('is ignored if it is neither', () => {
    for (const field of [
      null,
      '',
      '-1',
      '1.5',
      '1e9',
      'soon',
      '2040-01-01',
      'Sun, then',
      '9'.repeat(40),
    ]) {
      assert.equal(parseRetryAfter(field, now), null, String(field));
    }
  });
});

describe('the QRNG Open API', () => {
  it('reads the health test, the capabilities and entropy in order; the first two once', async (t) => {
    const fake = await FakeQrng.start(t, 'open-api');
    fake.service.plan('health', { status: 500 });
    const reader = fake.open(t);
    await assertFails(reader.read(never), /out of service \(500\)/, SECRETS);
    assert.equal(fake.service.count('capabilities') + fake.service.count('entropy'), 0);
    await reader.read(never);
    await reader.read(never);
    assert.equal(fake.service.count('health'), 2);
    assert.equal(fake.service.count('capabilities'), 1);
    assert.equal(fake.service.count('entropy'), 2);
    assert.equal(fake.service.received.entropy?.[0]?.headers.authorization, `Bearer ${API_KEY}`);
  });

  it('repeats both requests after a failure, because the device may be another one', async (t) => {
    const fake = await FakeQrng.start(t, 'open-api');
    const reader = fake.open(t);
    await reader.read(never);
    fake.service.plan('entropy', 'cut');
    await assertFails(reader.read(never), /could not be reached/, SECRETS);
    await reader.read(never);
    assert.equal(fake.service.count('health'), 2);
    assert.equal(fake.service.count('capabilities'), 2);
  });

  it('takes no entropy from a source that reports a failed test', async (t) => {
    for (const test_result of ['fail', 'FAILED', 'error: stuck', false]) {
      const fake = await FakeQrng.start(t, 'open-api');
      fake.healthTest = [
        { test_type: 'nist_90b', test_result: '0.94' },
        { test_type: 'startup', test_result },
      ];
      await assertFails(fake.open(t).read(never), /reports a failed health test/, SECRETS);
      assert.equal(fake.service.count('entropy'), 0);
    }
  });

  it('takes entropy from a source with unknown test results or no test', async (t) => {
    const fake = await FakeQrng.start(t, 'open-api');
    fake.healthTest = [{ test_type: 'nist_90b', test_result: 0.94 }];
    await fake.open(t).read(never);
    fake.service.plan('health', { status: 404 });
    await fake.open(t).read(never);
    assert.equal(fake.service.count('entropy'), 2);
  });

  it('requests blocks of the sizes that the source offers', async (t) => {
    const cases = [
      [{ max_block_size: 65_536, max_block_count: 1 }, 1_024, 1],
      [{ max_block_size: 32, max_block_count: 100 }, 32, 32],
      [{ max_block_size: 32, max_block_count: 4 }, 32, 4],
      [{ max_block_size: 100, max_block_count: 100 }, 100, 11],
      [{ min_block_size: 2_048, max_block_size: 4_096, max_block_count: 9 }, 2_048, 1],
      [{ max_block_size: 1_024, min_block_count: 3, max_block_count: 9 }, 1_024, 3],
    ] as const;
    for (const [capabilities, block_size, block_count] of cases) {
      const fake = await FakeQrng.start(t, 'open-api');
      fake.capabilities = capabilities;
      const { samples } = await fake.open(t).read(never);
      assert.deepEqual(bodyOf(fake), { block_size, block_count });
      assert.deepEqual(Buffer.from(samples), fake.delivered[0]);
    }
  });

  it('fails if the source offers no usable block', async (t) => {
    for (const capabilities of [
      { min_block_size: 100_000, max_block_size: 200_000, max_block_count: 1 },
      { min_block_size: 64, max_block_size: 32, max_block_count: 1 },
    ]) {
      const fake = await FakeQrng.start(t, 'open-api');
      fake.capabilities = capabilities;
      await assertFails(fake.open(t).read(never), /offers no block/, SECRETS);
    }
    for (const capabilities of [{}, { max_block_size: 0, max_block_count: 1 }]) {
      const fake = await FakeQrng.start(t, 'open-api');
      fake.capabilities = capabilities;
      await assertFails(
        fake.open(t).read(never),
        /answered its capabilities in an unknown form/,
        SECRETS,
      );
    }
  });

  it('refuses missing blocks, other lengths and invalid base64', async (t) => {
    const fake = await FakeQrng.start(t, 'open-api');
    fake.capabilities = { max_block_size: 512, max_block_count: 2 };
    const block = Buffer.alloc(512, 7).toString('base64');
    const reader = fake.open(t);
    for (const entropy of [
      [],
      [block],
      [block, block, block],
      [block, Buffer.alloc(511).toString('base64')],
      [block, Buffer.alloc(513).toString('base64')],
      [block, block.replace('B', '-')],
      [block, block.replaceAll('=', '')],
      [block, `${block} `],
      [block, 7],
      block,
    ]) {
      fake.service.plan('entropy', { body: { entropy } });
      await assertFails(reader.read(never), UNKNOWN_FORM, SECRETS);
    }
    fake.service.plan('entropy', { body: { entropy: [block, block] } });
    assert.deepEqual(Buffer.from((await reader.read(never)).samples), Buffer.alloc(1_024, 7));
  });

  it('needs no API key', async (t) => {
    const fake = await FakeQrng.start(t, 'open-api');
    await fake.open(t, { apiKey: null }).read(never);
    assert.equal(fake.service.received.entropy?.[0]?.headers.authorization, undefined);
  });
});

describe('ANU Quantum Numbers', () => {
  it('requests 1024 numbers of eight bits, with the API key in a header', async (t) => {
    const fake = await FakeQrng.start(t, 'anu');
    await fake.open(t).read(never);
    const [request] = fake.service.received.entropy ?? [];
    assert.equal(request?.path, '/?length=1024&type=uint8');
    assert.equal(request?.headers['x-api-key'], API_KEY);
  });

  it('refuses too few numbers, other types and numbers outside a byte', async (t) => {
    const fake = await FakeQrng.start(t, 'anu');
    const reader = fake.open(t);
    const data = Array(1_024).fill(1);
    const good = { success: true, type: 'uint8', length: 1_024, data };
    for (const body of [
      { ...good, data: data.slice(1) },
      { ...good, data: [...data, 1] },
      { ...good, success: false },
      { ...good, type: 'uint16' },
      ...[256, -1, 0.5, '1', null].map((value) => ({ ...good, data: data.with(500, value) })),
    ]) {
      fake.service.plan('entropy', { body });
      await assertFails(reader.read(never), UNKNOWN_FORM, SECRETS);
    }
  });
});

describe('the QRNG of Outshift', () => {
  it('requests 1000 blocks of eight bits, with the API key in a header', async (t) => {
    const fake = await FakeQrng.start(t, 'outshift');
    await fake.open(t).read(never);
    assert.deepEqual(bodyOf(fake), {
      encoding: 'raw',
      format: 'decimal',
      bits_per_block: 8,
      number_of_blocks: 1_000,
    });
    assert.equal(fake.service.received.entropy?.[0]?.headers['x-id-api-key'], API_KEY);
  });

  it('refuses too few numbers and numbers outside a byte', async (t) => {
    const fake = await FakeQrng.start(t, 'outshift');
    const reader = fake.open(t);
    const random_numbers = Array(1_000).fill({ decimal: '1' });
    for (const body of [
      { random_numbers: random_numbers.slice(1) },
      ...['256', '-1', '01', '1.0', '', '0x1', null].map((decimal) => ({
        random_numbers: random_numbers.with(500, { decimal }),
      })),
    ]) {
      fake.service.plan('entropy', { body });
      await assertFails(reader.read(never), UNKNOWN_FORM, SECRETS);
    }
  });
});

describe('openQrng', () => {
  it('needs an address for open-api, and an API key if the service requires one', () => {
    assert.throws(() => openQrng({ profile: 'open-api', url: null, apiKey: null }), TypeError);
    for (const profile of ['anu', 'outshift'] as const) {
      assert.throws(() => openQrng({ profile, url: null, apiKey: null }), TypeError);
      assert.doesNotThrow(() => openQrng({ profile, url: null, apiKey: API_KEY }));
    }
  });

  it('accepts only https: except for this machine', () => {
    const opening = (url: string) => () => openQrng({ profile: 'open-api', url, apiKey: null });
    for (const url of ['http://qrng.example', 'http://10.0.0.1:8000', 'qrng.example', '']) {
      assert.throws(opening(url), RangeError);
    }
    for (const url of ['https://qrng.example/', 'http://localhost:1', 'http://127.9.9.9:1']) {
      assert.doesNotThrow(opening(url));
    }
  });

  it('refuses an API key that a header cannot contain, without quoting it', () => {
    for (const apiKey of ['', 'two words', 'line\n', 'schlüssel', 'x'.repeat(8_193)]) {
      const opening = () => openQrng({ profile: 'anu', url: null, apiKey });
      assert.throws(opening, (error: unknown) => {
        assert.ok(error instanceof TypeError);
        return !/words|line|schl|xxx/.test(error.message);
      });
    }
  });
});
