/** The transparency log over HTTP, in the form of c2sp.org/tlog-tiles: paths, types, caching, CORS and limits. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { AppError } from '../../../src/errors.ts';
import { absentLog, type LogApi, type LogBytesAnswer } from '../../../src/service/index.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';

const PAGE = 'https://app.example';
const CHECKPOINT = 'phm.invalid/1\n300\nAAAA\n\n— phm.invalid/1 AAAA\n';
const POLICY = 'log phm.invalid/1+00000000+AAAA\nquorum none\n';

/** Size of the published tree of the stand-in. */
const SIZE = 300;
const asked: (readonly [string | number, number, number])[] = [];

function read(level: number | 'entries', index: number, width: number): LogBytesAnswer {
  asked.push([level, index, width]);
  const have = level === 0 || level === 'entries' ? SIZE - index * 256 : level === 1 ? 1 : 0;
  return width <= have
    ? {
        kind: 'bytes',
        bytes: Buffer.alloc(level === 'entries' ? 34 * width : 32 * width, index + 1),
      }
    : { kind: 'absent' };
}

const LOG: LogApi = {
  ...absentLog('starting'),
  checkpoint: () => ({ kind: 'text', text: CHECKPOINT }),
  policy: () => ({ kind: 'text', text: POLICY }),
  tile: async (level, index, width) => read(level, index, width),
  entries: async (index, width) => read('entries', index, width),
};

const apps: FastifyInstance[] = [];

async function appWith(log: LogApi, options = {}): Promise<FastifyInstance> {
  const app = await buildTestApp({ service: standInService('research', { log }), ...options });
  apps.push(app);
  return app;
}

let app: FastifyInstance;
before(async () => {
  app = await appWith(LOG);
});
after(() => Promise.all(apps.map((one) => one.close())));

const get = (url: string, more: InjectOptions = {}, on = app) => on.inject({ url, ...more });

async function assertProblem(url: string, status: number, code: string, on = app) {
  const answer = await get(url, {}, on);
  assert.equal(answer.statusCode, status, url);
  assert.match(String(answer.headers['content-type']), /^application\/problem\+json/, url);
  assert.equal(answer.json().code, code, url);
  assert.equal(answer.headers['cache-control'], 'no-store', url);
  return answer;
}

describe('the log over HTTP', () => {
  it('serves the checkpoint and the policy as text that caches ask for again', async () => {
    for (const [url, text] of [
      ['/log/checkpoint', CHECKPOINT],
      ['/log/policy', POLICY],
    ] as const) {
      const { statusCode, headers, body } = await get(url);
      assert.equal(statusCode, 200);
      assert.equal(body, text);
      assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
      assert.equal(headers['cache-control'], 'no-cache');
    }
  });

  it('serves full and partial tiles and bundles as bytes that never change', async () => {
    for (const [path, bytes, call] of [
      ['0/000', 8_192, [0, 0, 256]],
      ['0/000.p/5', 160, [0, 0, 5]],
      ['0/001.p/44', 1_408, [0, 1, 44]],
      ['1/000.p/1', 32, [1, 0, 1]],
      ['entries/000', 8_704, ['entries', 0, 256]],
      ['entries/001.p/44', 1_496, ['entries', 1, 44]],
    ] as const) {
      const { statusCode, headers, rawPayload } = await get(`/log/tile/${path}`);
      assert.equal(statusCode, 200, path);
      assert.equal(rawPayload.length, bytes, path);
      assert.deepEqual(asked.at(-1), call);
      assert.equal(headers['content-type'], 'application/octet-stream');
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
      assert.equal(headers['x-content-type-options'], 'nosniff');
    }
  });

  it('passes on large indices', async () => {
    await assertProblem('/log/tile/0/x001/x234/067', 404, 'not_found');
    assert.deepEqual(asked.at(-1), [0, 1_234_067, 256]);
  });

  it('answers 404 for tiles and widths beyond the published tree', async () => {
    for (const path of ['0/001', '0/001.p/45', '0/002.p/1', '1/000', 'entries/001', '2/000.p/1']) {
      const { body } = await assertProblem(`/log/tile/${path}`, 404, 'not_found');
      assert.match(body, /The published tree has no such tile\./, path);
    }
  });

  it('answers 404 for every other path below /log, without asking the log', async () => {
    const before = asked.length;
    for (const path of [
      ...['tile/64/000', 'tile/00/000', 'tile/-1/000', 'tile/0/0', 'tile/0/0000', 'tile/0/001/002'],
      ...['tile/0/x000/001', 'tile/0/x01/000', 'tile/0/000.p/0', 'tile/0/000.p/256'],
      ...['tile/0/000.p/05', 'tile/0/000.p', 'tile/0/000.p/', 'tile/0/000/', 'tile/x/000'],
      ...['tile/entries/', 'tile/', 'tile/0/%30%30%30', 'tile/0//000', 'tile//0/000'],
      ...['tile/0/x999/x999/x999/x999/x999/999', `tile/0/${'x000/'.repeat(300)}000`],
    ]) {
      await assertProblem(`/log/${path}`, 404, 'not_found');
    }
    for (const path of ['', 'tile', 'nope', 'checkpoint/']) {
      await assertProblem(`/log/${path}`, 404, 'not_found');
    }
    assert.equal(asked.length, before);
  });

  it('answers HEAD, and 405 for other methods', async () => {
    for (const path of ['checkpoint', 'policy', 'tile/0/000.p/5', 'tile/entries/000']) {
      const head = await get(`/log/${path}`, { method: 'HEAD' });
      const whole = await get(`/log/${path}`);
      assert.equal(head.statusCode, 200, path);
      assert.equal(head.body, '');
      assert.equal(head.headers['content-length'], String(whole.rawPayload.length), path);
      const post = await get(`/log/${path}`, { method: 'POST' });
      assert.equal(post.statusCode, 405, path);
      assert.equal(post.headers.allow, 'GET, HEAD');
    }
  });

  it('ignores parameters, preferences and API keys', async () => {
    const headers = { prefer: 'handling=strict', 'x-api-key': 'phmsk_live_wrong' };
    const answer = await get('/log/checkpoint?x=1', { headers });
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers['preference-applied'], undefined);
    assert.equal(answer.headers.ratelimit, undefined);
  });

  it('is readable by every web page, errors included', async () => {
    const restricted = await appWith(LOG, { corsOrigins: [PAGE] });
    for (const on of [app, restricted]) {
      for (const origin of [PAGE, 'https://other.example', 'null', undefined]) {
        for (const path of ['checkpoint', 'policy', 'tile/0/000', 'tile/0/002', 'tile/nope']) {
          const { headers } = await get(`/log/${path}`, { headers: origin ? { origin } : {} }, on);
          assert.equal(headers['access-control-allow-origin'], '*', path);
          assert.equal(headers['access-control-allow-credentials'], undefined);
          assert.equal(headers.vary, undefined, path);
        }
      }
    }
  });

  it('is below the base path', async () => {
    const below = await appWith(LOG, { basePath: '/security/phm' });
    for (const path of ['checkpoint', 'policy', 'tile/0/000', 'tile/entries/001.p/3']) {
      assert.equal((await get(`/security/phm/log/${path}`, {}, below)).statusCode, 200, path);
      assert.equal((await get(`/log/${path}`, {}, below)).statusCode, 404, path);
    }
  });
});

describe('a log that is not available', () => {
  const PATHS = ['checkpoint', 'policy', 'tile/0/000', 'tile/entries/000.p/1'];

  it('answers 404 if the server has none', async () => {
    const off = await appWith(absentLog('off'));
    for (const path of PATHS) {
      const answer = await assertProblem(`/log/${path}`, 404, 'not_found', off);
      assert.match(answer.json().detail, /^This server keeps no transparency log\./);
    }
  });

  it('answers 503 while it starts', async () => {
    const starting = await appWith(absentLog('starting'));
    for (const path of PATHS) {
      const answer = await assertProblem(`/log/${path}`, 503, 'ledger_unavailable', starting);
      assert.equal(
        answer.json().detail,
        'The transparency log is starting. Try again in 1 second.',
      );
    }
  });

  it('answers 503 log_stopped while it is stopped', async () => {
    const none = { kind: 'stopped' } as const;
    const stopped = await appWith({
      ...LOG,
      checkpoint: () => none,
      policy: () => none,
      tile: async () => none,
      entries: async () => none,
    });
    for (const path of PATHS) {
      const answer = await assertProblem(`/log/${path}`, 503, 'log_stopped', stopped);
      assert.equal(answer.headers['retry-after'], '30');
    }
  });
});

describe('reads of tiles', () => {
  it('are refused with 503 while 64 are in progress, and served again after', async () => {
    const waiting: (() => void)[] = [];
    const slow = await appWith({
      ...LOG,
      tile: (level, index, width) =>
        new Promise((resolve) => waiting.push(() => resolve(read(level, index, width)))),
    });
    const held = Array.from({ length: 64 }, () => get('/log/tile/0/000', {}, slow));
    while (waiting.length < 64) await new Promise(setImmediate);
    const refused = await assertProblem('/log/tile/0/000', 503, 'overloaded', slow);
    assert.equal(refused.headers['retry-after'], '1');
    await assertProblem('/log/tile/entries/000', 503, 'overloaded', slow);
    assert.equal((await get('/log/checkpoint', {}, slow)).statusCode, 200);
    for (const go of waiting) go();
    for (const { statusCode } of await Promise.all(held)) assert.equal(statusCode, 200);
    assert.equal((await get('/log/tile/entries/000', {}, slow)).statusCode, 200);
  });

  it('free their place if they fail, and pass the problem on', async () => {
    const failing = await appWith({
      ...LOG,
      tile: async () => {
        throw new AppError('ledger_unavailable');
      },
    });
    for (let i = 0; i < 70; i++) {
      await assertProblem('/log/tile/0/000', 503, 'ledger_unavailable', failing);
    }
  });
});
