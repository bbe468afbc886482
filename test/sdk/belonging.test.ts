/** Each answer belongs to its request: behind peers that repeat or shift answers, a call gets its own answer or an error. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import {
  type GeneratedKey,
  type KeyInfo,
  newRecipient,
  PhmApiError,
  PhmClient,
  PhmKeyLostError,
  PhmResponseError,
  sealTo,
} from '../../sdk/src/index.ts';
import { SEAL_TO, SEALED_KEY } from '../../src/http/openapi/sealed-example.ts';
import { answers, fails, requestIdOf, type Step } from '../support/scripted-server.ts';
import {
  ANY_ANSWER,
  API_KEY,
  another,
  GENERATED,
  KEY,
  makes,
  RECEIPTED,
  rejection,
  withClient,
} from './support.ts';

/** 32 bytes in base64. */
const SOME_COMMITMENT = Buffer.alloc(32, 7).toString('base64');

interface Answer {
  readonly id: string | undefined;
  readonly body: string;
}

/** Returns the answer to send for request number `n`, from all answers that the service gave so far, its own the last. */
type Confuses = (all: readonly Answer[], own: Answer) => Answer;

/** A service with a new key for each request, behind a keep-alive peer that confuses its answers. */
async function withPeer(confuses: Confuses, work: (phm: PhmClient) => Promise<void>) {
  const all: Answer[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const asked = JSON.parse(await text(request));
    const key = all.length.toString(16).padStart(64, '0');
    const { labels } = asked;
    const made = { ...GENERATED, key, key_id: `phm_${all.length + 1}`, ...(labels && { labels }) };
    const own = {
      id: request.headers['x-request-id'] as string,
      body: JSON.stringify({ success: true, ...made }),
    };
    all.push(own);
    const { id, body } = confuses(all, own);
    response.writeHead(200, {
      'content-type': 'application/json',
      ...(id === undefined ? {} : { 'x-request-id': id }),
    });
    response.end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    await work(new PhmClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: API_KEY }));
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const repeats: Confuses = (all, own) => (all.length % 5 === 0 ? (all.at(-2) ?? own) : own);
const shifts: Confuses = (all, own) => (all.length > 30 ? (all.at(-2) ?? own) : own);

describe('behind a peer that confuses answers', () => {
  const peers: [string, Confuses][] = [
    ['repeats them', repeats],
    ['shifts them', shifts],
    [
      'repeats them under the label of the request',
      (all, own) => ({ ...repeats(all, own), id: own.id }),
    ],
    ['repeats them without a label', (all, own) => ({ ...repeats(all, own), id: undefined })],
  ];
  for (const [name, confuses] of peers) {
    for (const options of [{}, { requestId: 'the-same' }]) {
      it(`that ${name}, no call gets the key of another${'requestId' in options ? ', with one label' : ''}`, async () => {
        await withPeer(confuses, async (phm) => {
          const made: GeneratedKey[] = [];
          for (let i = 0; i < 60; i += 1) {
            await phm.generate({ security_level: 256 }, options).then(
              (key) => made.push(key),
              () => undefined,
            );
          }
          assert.equal(
            new Set(made.map(({ key }) => key)).size,
            made.length,
            'two calls hold one key',
          );
        });
      });
    }
  }
});

const LEVEL = { security_level: 256 } as const;
const TIME = GENERATED.timestamp;
const ENDS = { labels: { env: 'prod', team: 'a' }, expires_at: '2027-01-31T12:00:00+01:00' };

const RECORD: KeyInfo = {
  key_id: 'phm_7',
  status: 'deactivated',
  created_at: TIME,
  security_level: 256,
  security_strength_bits: 256,
  modulation_type: 'phase',
  source: 'os',
  api_key_id: 'key_1',
  evidence: null,
  sealed_to: null,
  labels: {},
  expires_at: null,
  revoked_at: TIME,
  revocation_reason: 'superseded',
  receipt_url: null,
};

type Ask = (phm: PhmClient) => Promise<unknown>;

/** Asserts that a call rejects the answer `step` because of a member of it. */
async function assertRefused(step: Step, ask: Ask, member: RegExp): Promise<void> {
  await withClient([step], async (phm, server) => {
    const error = await rejection(ask(phm));
    assert.ok(error instanceof PhmResponseError, String(error));
    assert.match(error.message, member);
    assert.equal(error.outcomeUnknown, true);
    assert.equal(server.received.length, 1);
    assert.ok(!error.message.includes(KEY));
  });
}

describe('an answer to generate', () => {
  const generate: Ask = (phm) => phm.generate({ ...LEVEL, ...ENDS });

  it('has the labels and the expiry of the request, in whatever spelling', async () => {
    const { labels } = ENDS;
    const same = {
      labels: { team: 'a', env: 'prod' },
      expires_at: '2027-01-31T11:00:00.000+00:00',
    };
    await withClient([answers({ ...GENERATED, ...same })], async (phm) => {
      assert.equal((await phm.generate({ ...LEVEL, ...ENDS })).key, KEY);
    });
    const date = new Date('2027-01-31T11:00:00.123Z') as unknown as string;
    const ofDate = { expires_at: '2027-01-31T11:00:00.123+00:00' };
    await withClient([answers({ ...GENERATED, ...ofDate })], async (phm) => {
      assert.equal((await phm.generate({ ...LEVEL, expires_at: date })).key, KEY);
    });
    const wrong: [object, RegExp][] = [
      [{}, /: \/labels are not those of the request/],
      [{ labels: { env: 'prod' } }, /\/labels/],
      [{ labels: { ...labels, team: 'b' } }, /\/labels/],
      [{ labels: { ...labels, more: 'x' } }, /\/labels/],
      [{ labels }, /\/expires_at is not that of the request/],
      [{ labels, expires_at: '2027-01-31T12:00:00+00:00' }, /\/expires_at/],
    ];
    for (const [ends, member] of wrong) {
      await assertRefused(answers({ ...GENERATED, ...ends }), generate, member);
    }
    const plain: Ask = (phm) => phm.generate({ ...LEVEL, labels: {}, expires_at: null });
    for (const one of [{ labels }, { expires_at: TIME }]) {
      await assertRefused(answers({ ...GENERATED, ...one }), plain, /\/(?:labels|expires_at)/);
    }
  });

  it('may lack what an older service ignored, which then says so', async () => {
    const warnings = [{ code: 'unknown_field', pointer: '#/labels', detail: 'ignored' }];
    const older = { strict: false };
    await withClient(
      [answers({ ...GENERATED, warnings })],
      async (phm) => {
        assert.equal((await phm.generate({ ...LEVEL, ...ENDS })).key, KEY);
      },
      older,
    );
  });

  it('has a receipt of its own key', async () => {
    const ask: Ask = (phm) => phm.generate({ ...LEVEL, include: ['receipt'] });
    const { receipt } = RECEIPTED;
    const statement = { ...receipt.statement, key_id: 'phm_8' };
    const other = { ...GENERATED, ...RECEIPTED, receipt: { ...receipt, statement } };
    await assertRefused(answers(other), ask, /: \/receipt is of another key/);
    const receipt_url = '/api/v2/keys/phm_8/receipt';
    await assertRefused(
      answers({ ...GENERATED, ...RECEIPTED, receipt_url }),
      ask,
      /\/receipt_url is/,
    );
  });

  it('has no member twice, and a key ID and a time of the right form', async () => {
    const twice: Step = (response) => {
      const headers = { 'content-type': 'application/json', ...requestIdOf(response) };
      const body = JSON.stringify({ success: true, ...GENERATED });
      response
        .writeHead(200, headers)
        .end(`${body.slice(0, -1)}, "k\\u0065y" : "${'0'.repeat(64)}"}`);
    };
    const ask: Ask = (phm) => phm.generate(LEVEL);
    await assertRefused(twice, ask, /is not JSON of the PHM key service/);
    for (const key_id of ['phm_1\u001b[2J', 'phm_01', '../../etc', '']) {
      await assertRefused(answers({ ...GENERATED, key_id }), ask, /\/key_id must be a key ID/);
    }
    for (const timestamp of ['yesterday', '2026-01-31T12:00:00', `${TIME}\u001b[2J`]) {
      await assertRefused(answers({ ...GENERATED, timestamp }), ask, /\/timestamp must be a time/);
    }
  });
});

describe('an answer to generateSealed', () => {
  const { success: _, receipt: __, receipt_url: ___, ...sealed } = SEALED_KEY;
  const { suite, public_key } = SEAL_TO as { suite: 'MLKEM768-X25519'; public_key: string };

  it('is of the key and for the recipient of the request', async () => {
    await withClient([answers(sealed)], async (phm) => {
      const answer = await phm.generateSealed({ ...LEVEL, seal_to: { suite, public_key } });
      assert.equal(answer.key_id, sealed.key_id);
    });
    const seal_to = sealTo(await newRecipient());
    for (const ask of [
      (phm: PhmClient) => phm.generateSealed({ ...LEVEL, seal_to }),
      (phm: PhmClient) => phm.generateSealed({ ...LEVEL, seal_to: { ...seal_to, suite: null } }),
    ]) {
      await assertRefused(answers(sealed), ask, /: \/sealed_key is for another recipient/);
    }
    const keys = [another(sealed), another(sealed)];
    await assertRefused(
      answers({ timestamp: TIME, count: 2, keys }),
      (phm) => phm.generateSealedBatch({ ...LEVEL, seal_to, count: 2 }).next(),
      /: \/keys\/0\/sealed_key is for another recipient/,
    );
    const named: Ask = (phm) => phm.generateSealed({ ...LEVEL, seal_to: { recipient: 'a' } });
    await assertRefused(answers({ ...sealed, key_id: 'phm_8' }), named, /is of another key_id/);
    const broken = { ...sealed.sealed_key, header: 'AAAA' };
    await assertRefused(answers({ ...sealed, sealed_key: broken }), named, /is of another key_id/);
  });

  it('may be an earlier one if the service says that it repeats it', async () => {
    const given = { idempotencyKey: 'order-17' };
    const seal_to = { recipient: 'a' };
    const replayed = answers(sealed, { 'idempotent-replayed': 'true' });
    await withClient([answers(sealed), replayed, answers(sealed)], async (phm) => {
      await phm.generateSealed({ ...LEVEL, seal_to }, given);
      await phm.generateSealed({ ...LEVEL, seal_to }, given);
      const error = await rejection(phm.generateSealed({ ...LEVEL, seal_to }));
      assert.match(String(error), /: \/key_id is of an earlier call/);
    });
  });
});

describe('a batch', () => {
  const two: Ask = (phm) => phm.generateBatch({ ...LEVEL, count: 2 }).next();
  const batch = (...keys: object[]) => answers({ timestamp: TIME, count: 2, keys });

  it('has no key twice', async () => {
    const key = another(GENERATED);
    await assertRefused(batch(key, key), two, /: \/keys\/1 repeats another key of the batch/);
    await assertRefused(batch(key, { ...key, key_id: 'phm_8' }), two, /\/keys\/1 repeats/);
    await assertRefused(
      batch(key, { ...another(key), key_id: key.key_id }),
      two,
      /\/keys\/1 repeats/,
    );
  });

  it('has no key of an earlier call', async () => {
    const keys = [another(GENERATED), another(GENERATED)];
    await withClient([answers(keys[1] ?? {}), batch(...keys)], async (phm) => {
      await phm.generate(LEVEL);
      assert.match(String(await rejection(two(phm))), /: \/keys\/1\/key_id is of an earlier call/);
    });
  });

  it('has the labels of the request in each key', async () => {
    const { labels } = ENDS;
    const ask: Ask = (phm) => phm.generateBatch({ ...LEVEL, labels, count: 2 }).next();
    const keys = [another({ ...GENERATED, labels }), another(GENERATED)];
    await assertRefused(batch(...keys), ask, /: \/keys\/1\/labels are not those of the request/);
  });
});

describe('a record', () => {
  it('is of the key that was asked for', async () => {
    const other = answers({ key: { ...RECORD, key_id: 'phm_8' }, timestamp: TIME });
    await assertRefused(
      other,
      (phm) => phm.getKey('phm_7'),
      /: \/key is the record of another key/,
    );
    const revoke: Ask = (phm) => phm.revokeKey('phm_7', 'superseded');
    await assertRefused(other, revoke, /: \/key is the record of another key/);
    const receipt: Ask = (phm) => phm.receipt('phm_7');
    await assertRefused(answers(ANY_ANSWER), receipt, /: \/receipt is of another key/);
    const { key_id, key_commitment } = RECEIPTED.receipt.statement;
    const step = answers(ANY_ANSWER);
    for (const [keyId, commitment, fits] of [
      [key_id, key_commitment, true],
      ['phm_7', key_commitment, false],
      [key_id, SOME_COMMITMENT, false],
    ] as const) {
      const ask: Ask = (phm) => phm.receiptByCommitment(keyId, commitment);
      if (!fits) await assertRefused(step, ask, /: \/receipt is of another key/);
      else
        await withClient([step], async (phm, server) => {
          await ask(phm);
          const { headers, method, url, body } = server.received[0] ?? assert.fail();
          assert.deepEqual([method, url], ['POST', '/api/v2/receipts']);
          assert.deepEqual(JSON.parse(body), { key_id, key_commitment });
          assert.equal(headers['x-api-key'], undefined);
        });
    }
  });

  it('is in the state that its revocation gives it', async () => {
    const states = [
      ['superseded', { status: 'deactivated' }, true],
      ['superseded', { status: 'compromised' }, true],
      ['key_compromise', { status: 'compromised' }, true],
      ['key_compromise', { status: 'deactivated' }, false],
      ['superseded', { status: 'active' }, false],
      ['superseded', { revoked_at: null }, false],
    ] as const;
    for (const [reason, state, fits] of states) {
      const step = answers({ key: { ...RECORD, ...state }, timestamp: TIME });
      const revoke = (phm: PhmClient) => phm.revokeKey('phm_7', reason);
      if (!fits) await assertRefused(step, revoke, /: \/key is not revoked for this reason/);
      else await withClient([step], async (phm) => void (await revoke(phm)));
    }
  });
});

describe('an X-Request-Id', () => {
  it('of another request shows an error that is not of this one', async () => {
    const others = { 'x-request-id': 'of-another' };
    const lost = fails('key_already_made', others, { key_id: 'phm_8' });
    await withClient([lost], async (phm, server) => {
      const error = await rejection(phm.generate(LEVEL, { idempotencyKey: true }));
      assert.ok(error instanceof PhmResponseError && !(error instanceof PhmKeyLostError));
      assert.match(error.message, /has the X-Request-Id of another request \(status 409\)/);
      assert.equal(error.requestId, server.received[0]?.headers['x-request-id']);
      assert.equal(error.outcomeUnknown, true);
    });
    // It could be that this call was executed, so it is not repeated.
    await withClient([fails('overloaded', others), makes()], async (phm, server) => {
      assert.ok((await rejection(phm.generate(LEVEL))) instanceof PhmResponseError);
      assert.equal(server.received.length, 1);
    });
  });

  it('may be missing in an error of a proxy, and differ where the service could not read it', async () => {
    const nameless: Step = (response) => {
      const { 'x-request-id': id = '' } = requestIdOf(response);
      const { writeHead } = response;
      response.writeHead = ((
        status: number,
        { 'x-request-id': _, ...headers }: object & { 'x-request-id'?: string },
      ) => writeHead.call(response, status, id === '' ? {} : headers)) as typeof writeHead;
      fails('overloaded', { 'retry-after': '0' })(response);
    };
    const raw = fails('request_timeout', {
      'x-request-id': 'new',
      connection: 'close',
      'retry-after': '0',
    });
    for (const step of [nameless, raw]) {
      await withClient([step, makes()], async (phm, server) => {
        await phm.generate(LEVEL);
        assert.equal(server.received.length, 2);
      });
      await withClient(
        [step],
        async (phm) => {
          assert.ok((await rejection(phm.generate(LEVEL))) instanceof PhmApiError);
        },
        { maxRetries: 0 },
      );
    }
  });

  it('of a limit of another request changes nothing', async () => {
    const limits = { 'ratelimit-policy': '"rate";q=1;w=9', ratelimit: '"rate";r=0;t=9' };
    const other = answers(ANY_ANSWER, { ...limits, 'x-request-id': 'of-another' });
    await withClient([other], async (phm) => {
      await rejection(phm.metrics());
      assert.deepEqual(phm.lastLimits, { quota: null, rate: null });
    });
  });
});

describe('a fetch that followed a redirect', () => {
  it('is an error, whatever it returns', async () => {
    const fetch = async (_: string, { headers }: RequestInit) => {
      const { 'X-Request-Id': id = '' } = headers as Record<string, string>;
      const answer = JSON.stringify({ success: true, ...GENERATED });
      const response = new Response(answer, { headers: { 'x-request-id': id } });
      const url = 'http://elsewhere.example/x?secret=1';
      return Object.defineProperties(response, {
        redirected: { value: true },
        url: { value: url },
      });
    };
    const phm = new PhmClient({ baseUrl: 'http://keys.example', fetch });
    const error = await rejection(phm.generate(LEVEL));
    assert.ok(error instanceof PhmResponseError && error.outcomeUnknown);
    assert.match(
      error.message,
      /followed a redirect of \S+ to http:\/\/elsewhere.example\/x, which/,
    );
  });
});
