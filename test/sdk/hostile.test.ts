/** What a hostile peer can put into an error: a key, or characters that act on a terminal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { PhmApiError, PhmConnectionError, PhmResponseError } from '../../sdk/src/index.ts';
import { requestIdOf, type Step } from '../support/scripted-server.ts';
import { GENERATED, KEY, rejection, withClient } from './support.ts';

const ANSWER = JSON.stringify({ success: true, ...GENERATED });

/** Sends bytes as they are. */
function raw(text: string): Step {
  return (response) => void response.socket?.end(Buffer.from(text, 'latin1'));
}

/** Sends a JSON text. */
function sends(status: number, text: string): Step {
  return (response) => {
    const kind = { 'content-type': 'application/json' };
    response.writeHead(status, { ...kind, ...requestIdOf(response) }).end(text);
  };
}

describe('an error', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
  for (const [what, text] of [
    ['a broken chunk', `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n${ANSWER}\r\n`],
    ['a broken header', `${HEAD}no header\r\n\r\n${ANSWER}`],
    ['no HTTP', ANSWER],
  ] as const) {
    it(`for ${what} holds nothing of the answer`, async () => {
      await withClient([raw(text)], async (phm) => {
        const error = await rejection(phm.generate({ security_level: 256 }));
        assert.ok(error instanceof PhmConnectionError, String(error));
        assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes(KEY));
      });
    });
  }

  it('shows each character of a text that would act on a terminal', async () => {
    const active = '\x1b]0;title\x07\x9b31m\r\n\u202e\u200b\u2028\u3164\u{e0041}';
    const detail = `Größe ${active}`;
    const errors = [{ pointer: `#/${active}`, message: `m${active}` }];
    const body = { success: false, code: `c${active}`, title: `T${active}`, detail, errors };
    await withClient([sends(400, JSON.stringify(body))], async (phm) => {
      const error = await rejection(phm.generate({ security_level: 256 }));
      assert.ok(error instanceof PhmApiError);
      const shown = String.raw`Größe \u{1b}]0;title\u{7}\u{9b}31m\u{d}\u{a}\u{202e}\u{200b}\u{2028}`;
      assert.ok(error.message.includes(shown), error.message);
      assert.doesNotMatch(error.message, /[\p{Cc}\p{Cf}\p{Zl}\u3164]/u);
      assert.ok(!/[\p{Cc}\p{Cf}\p{Zl}]/u.test((error.stack ?? '').replaceAll('\n', '')));
      assert.equal(error.detail, detail, 'what a program reads is as it came');
    });
    const head = 'HTTP/1.1 400 Bad\r\nContent-Type: text/\x9b31m\r\nContent-Length: 0\r\n\r\n';
    await withClient([raw(head)], async (phm) => {
      assert.match(String(await rejection(phm.health())), /\(status 400, text\/\\u\{9b\}31m\)/);
    });
  });
});

describe('a number', () => {
  it('that no double holds is refused', async () => {
    for (const number of ['1e999', '9'.repeat(400)]) {
      await withClient(
        [sends(200, ANSWER.replace('"entropy_bits":256', `"entropy_bits":${number}`))],
        async (phm) => {
          const error = await rejection(phm.generate({ security_level: 256 }));
          assert.ok(error instanceof PhmResponseError, String(error));
          assert.match(error.message, /\/entropy_bits must be a number, got one that is too large/);
        },
      );
    }
  });

  it('of keys that is not whole is no size of a batch', async () => {
    const body = {
      success: false,
      code: 'batch_too_large',
      title: 'T',
      detail: 'D',
      max_count: 1.5,
    };
    await withClient([sends(422, JSON.stringify(body))], async (phm) => {
      const keys = phm.generateBatch({ security_level: 256, count: 5 });
      const error = await rejection(keys.next());
      assert.ok(error instanceof PhmApiError, String(error));
      assert.equal(error.maxCount, null);
    });
  });
});
