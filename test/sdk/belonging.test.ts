/** Each answer belongs to its request, in what only this client has. sdk/exchanges/binding.json has the rest. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newRecipient, PhmClient, PhmResponseError, sealTo } from '../../sdk/src/index.ts';
import { SEALED_KEY } from '../../src/http/openapi/sealed-example.ts';
import { answers } from '../support/clients/scripted-server.ts';
import { GENERATED, KEY, rejection, withClient } from './support.ts';

const LEVEL = { security_level: 256 } as const;

describe('an answer', () => {
  it('may have the moment of a Date that the request had', async () => {
    const date = new Date('2027-01-31T11:00:00.123Z') as unknown as string;
    const ofDate = { expires_at: '2027-01-31T11:00:00.123+00:00' };
    await withClient([answers({ ...GENERATED, ...ofDate })], async (phm) => {
      assert.equal((await phm.generate({ ...LEVEL, expires_at: date })).key, KEY);
    });
  });

  it('is for the recipient that sealTo named, also without the name of its suite', async () => {
    const { success: _, receipt: __, receipt_url: ___, ...sealed } = SEALED_KEY;
    const seal_to = sealTo(await newRecipient());
    for (const to of [seal_to, { ...seal_to, suite: null }]) {
      await withClient([answers(sealed)], async (phm) => {
        const error = await rejection(phm.generateSealed({ ...LEVEL, seal_to: to }));
        assert.match(String(error), /: \/sealed_key is for another recipient/);
      });
    }
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
