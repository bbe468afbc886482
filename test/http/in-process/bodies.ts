/** Bodies over TCP, however their bytes arrive: with the headers, later, in pieces, in chunks, or before another request. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, Socket } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { newApiKey } from '../../../src/accounts/index.ts';
import { BoundedRequest, readBody } from '../../../src/http/wire/read-body.ts';
import type { KeyService } from '../../../src/service/index.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';

const USAGE = { month: 0, used: 1, quota: null };
const BODY = JSON.stringify({ key: 'ä'.repeat(20), hash_proof: 'b' });
const VERDICT = {
  valid: false,
  keyFormat: 'invalid',
  entropyCheck: 'skipped',
  proofVerification: 'skipped',
  retiredSecret: null,
  keyStatus: null,
} as const;

let app: FastifyInstance;
let socket: Socket;
let received = '';
/** What the requests sent. */
let keys: string[] = [];
/** True to look API keys up, which takes another turn of the event loop. */
let isSlow = false;
/** How long a look-up takes at least. */
let lookUpMs = 0;

const validate: KeyService['validate'] = async (_, key) => {
  keys.push(key);
  return { kind: 'validated', verdict: VERDICT, usage: USAGE } as never;
};

before(async () => {
  const service = standInService('enterprise', { validate });
  const known = await service.authenticate(Buffer.alloc(32), '');
  service.authenticate = () => {
    if (lookUpMs > 0) return delay(lookUpMs, known);
    return isSlow ? turn(known) : known;
  };
  app = await buildTestApp({ service, rateLimits: false });
  await app.listen({ host: '127.0.0.1', port: 0 });
  socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').setNoDelay();
  socket.on('data', (chunk) => {
    received += chunk;
  });
  await once(socket, 'connect');
});
after(() => {
  socket.destroy();
  return app.close();
});
beforeEach(() => {
  received = '';
  keys = [];
  lookUpMs = 0;
});

const head = (framing: string) =>
  `POST /api/v2/validate HTTP/1.1\r\nHost: x\r\nX-API-Key: ${newApiKey('live')}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
const whole = Buffer.from(head(`Content-Length: ${Buffer.byteLength(BODY)}`) + BODY);
const start = whole.length - Buffer.byteLength(BODY);

/** Sends pieces, each after the server has read the one before, and waits for `count` answers with status 200. */
async function send(pieces: readonly Buffer[], count = 1): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    await turn();
    await turn();
  }
  while (received.split('"timestamp"').length <= count) await once(socket, 'data');
  const statuses = received.match(/HTTP\/1\.1 \d+/g);
  assert.deepEqual(
    statuses,
    Array.from({ length: count }, () => 'HTTP/1.1 200'),
  );
  assert.deepEqual(
    keys,
    Array.from({ length: count }, () => 'ä'.repeat(20)),
  );
}

describe('a body', () => {
  for (const slow of [false, true]) {
    const when = slow ? 'after a look-up of the API key' : 'with a cached API key';

    it(`is read ${when}, wherever TCP splits it`, async () => {
      isSlow = slow;
      for (let at = start - 2; at < whole.length; at++) {
        received = '';
        keys = [];
        await send([whole.subarray(0, at), whole.subarray(at)]);
      }
    });

    it(`is read ${when}, in one segment with other requests`, async () => {
      isSlow = slow;
      await send([whole]);
      received = '';
      keys = [];
      await send([Buffer.concat([whole, whole, whole])], 3);
    });

    it(`is read ${when}, in chunks`, async () => {
      isSlow = slow;
      const [first, second] = [BODY.slice(0, 9), BODY.slice(9)].map(
        (part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`,
      );
      const headers = head('Transfer-Encoding: chunked');
      await send([Buffer.from(`${headers}${first}${second}0\r\n\r\n`)]);
      received = '';
      keys = [];
      await send([`${headers}${first}`, `${second}0\r\n`, '\r\n'].map((text) => Buffer.from(text)));
    });
  }
});

describe('a body in pieces', () => {
  it('is read whole if all arrive during the look-up of the API key', async () => {
    lookUpMs = 50;
    for (const at of [start + 1, start + 20, whole.length - 1]) {
      received = '';
      keys = [];
      const ends = [0, start, at, whole.length];
      const pieces = ends.slice(1).map((end, i) => whole.subarray(ends[i], end));
      for (const piece of pieces.slice(0, -1)) {
        socket.write(piece);
        await delay(5);
      }
      await send(pieces.slice(-1));
    }
  });
});

describe('the memory of a body', () => {
  it('is its own, also if the body arrived in pieces', async () => {
    const request = new BoundedRequest(new Socket());
    const pieces = ['{"key": ', '"00ff"}'];
    request.headers['content-length'] = String(pieces.join('').length);
    for (const piece of pieces) request.push(Buffer.from(piece));
    request.push(null);
    const body = await new Promise<Buffer>((resolve, reject) =>
      readBody(request, 100, (error, read) => (error ? reject(error) : resolve(read))),
    );
    assert.equal(body.toString(), pieces.join(''));
    assert.equal(body.buffer.byteLength, body.length);
  });
});
