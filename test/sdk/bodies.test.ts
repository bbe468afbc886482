/** How much of a response the client reads. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { LARGEST_BODY } from '../../sdk/src/body.ts';
import { PhmClient, PhmResponseError } from '../../sdk/src/index.ts';
import {
  answers,
  requestIdOf,
  ScriptedServer,
  type Step,
} from '../support/clients/scripted-server.ts';
import { ANY_ANSWER, API_KEY, rejection, withClient } from './support.ts';

const MIB = 2 ** 20;

/** Asserts that a call fails because its response is too long, without a retry. */
async function assertTooLong(phm: PhmClient): Promise<void> {
  const error = await rejection(phm.metrics());
  assert.ok(error instanceof PhmResponseError, String(error));
  assert.match(error.message, /^the response of \S+ is longer than 64 MiB \(status 200\)/);
  assert.equal(error.outcomeUnknown, true);
}

/** Returns a replacement of `fetch` whose response is `chunks` times a MiB of spaces, and what was done with it. */
function sender(chunks: number, end = '') {
  const seen = { sent: 0, cancelled: false };
  const fetch = async (_: string, { headers }: RequestInit) => {
    const { 'X-Request-Id': id = '' } = headers as Record<string, string>;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => {
        seen.sent += 1;
        if (seen.sent <= chunks) controller.enqueue(new Uint8Array(MIB).fill(0x20));
        else {
          if (end !== '') controller.enqueue(new TextEncoder().encode(end));
          controller.close();
        }
      },
      cancel: () => {
        seen.cancelled = true;
      },
    });
    return new Response(body, { headers: { 'x-request-id': id } });
  };
  return { seen, phm: new PhmClient({ baseUrl: 'http://keys.example', fetch }) };
}

describe('a response', () => {
  it('is read up to 64 MiB and no further', async () => {
    const { seen, phm } = sender(Number.POSITIVE_INFINITY);
    await assertTooLong(phm);
    assert.ok(seen.cancelled, 'the rest would still arrive');
    assert.ok(seen.sent <= LARGEST_BODY / MIB + 2, `${seen.sent} MiB were taken`);
  });

  it('is counted without its compression, which the client does not ask for', async () => {
    const zeros = gzipSync(new Uint8Array(16 * MIB));
    const bomb: Step = (response) => {
      const coding = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
      response.writeHead(200, { ...coding, ...requestIdOf(response) });
      response.end(Buffer.concat(Array(64).fill(zeros)));
    };
    await withClient([bomb], async (phm, server) => {
      await assertTooLong(phm);
      assert.equal(server.received.length, 1);
      assert.equal(server.received[0]?.headers['accept-encoding'], 'identity');
    });
  });

  it('is counted also if it states a small length before its compression', async () => {
    const bomb: Step = (response) => {
      const body = Buffer.concat(Array(5).fill(gzipSync(new Uint8Array(16 * MIB))));
      const coding = { 'content-encoding': 'gzip', 'content-length': body.length };
      response.writeHead(200, { ...coding, ...requestIdOf(response) }).end(body);
    };
    await withClient([bomb], assertTooLong);
  });

  it('of an error or of a proxy has the same bound', async () => {
    const endless: Step = (response) => {
      response.writeHead(502, { 'content-type': 'text/html' });
      const send = (): void => {
        while (response.write(Buffer.alloc(MIB, 0x20)));
        response.once('drain', send);
      };
      send();
    };
    const server = await ScriptedServer.start(endless, answers(ANY_ANSWER));
    try {
      const phm = new PhmClient({ baseUrl: server.address, apiKey: API_KEY, maxRetries: 0 });
      const error = await rejection(phm.metrics());
      assert.ok(error instanceof PhmResponseError);
      assert.match(error.message, /longer than 64 MiB \(status 502\)/);
      assert.equal((await phm.metrics()).success, true);
    } finally {
      await server.stop();
    }
  });

  it('is searched for repeated members in a time that grows with its length', async () => {
    // Long strings and many names: a pattern would run out of stack or of time.
    const long = `"${'\\"'.repeat(2_000_000)}"`;
    const names = Array.from({ length: 100_000 }, (_, i) => `"${i}": {"a": [{}]}`).join();
    const says = (more: string): Step => {
      const body = JSON.stringify({ success: true, ...ANY_ANSWER });
      return (response) => {
        response.writeHead(200, { 'content-type': 'application/json', ...requestIdOf(response) });
        response.end(`${body.slice(0, -1)}, "long": ${long}, "many": {${names}}${more}}`);
      };
    };
    await withClient(
      [says(''), says(', "deep": [{"a": 1, "b": 2, "\\u0061": 3}]')],
      async (phm) => {
        assert.equal((await phm.metrics()).success, true);
        const error = await rejection(phm.metrics());
        assert.match(String(error), /is not JSON of the PHM key service/);
      },
    );
  });
});
