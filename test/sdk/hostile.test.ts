/** What a hostile peer can put into an error: a key, or characters that act on a terminal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { PhmConnectionError } from '../../sdk/src/index.ts';
import type { Step } from '../support/clients/scripted-server.ts';
import { GENERATED, KEY, rejection, withClient } from './support.ts';

const ANSWER = JSON.stringify({ success: true, ...GENERATED });

/** Sends bytes as they are. */
function raw(text: string): Step {
  return (response) => void response.socket?.end(Buffer.from(text, 'latin1'));
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

  it('shows each character of a header that would act on a terminal', async () => {
    const head = 'HTTP/1.1 400 Bad\r\nContent-Type: text/\x9b31m\r\nContent-Length: 0\r\n\r\n';
    await withClient([raw(head)], async (phm) => {
      assert.match(String(await rejection(phm.health())), /\(status 400, text\/\\u\{9b\}31m\)/);
    });
  });
});
