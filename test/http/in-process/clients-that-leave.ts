/** The pool learns that a client has disconnected while its request waits. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { newApiKey } from '../../../src/accounts/index.ts';
import { AppError } from '../../../src/errors.ts';
import type { KeyService } from '../../../src/service/index.ts';
import { buildTestApp, standInService } from '../../support/servers/app.ts';

it('a waiting request reports whether its client has disconnected', async () => {
  const arrived = Promise.withResolvers<() => boolean>();
  const generate: KeyService['generate'] = async (_principal, _order, { abandoned }) => {
    arrived.resolve(abandoned);
    while (!abandoned()) await new Promise((resolve) => setTimeout(resolve, 5));
    throw new AppError('request_timeout');
  };
  const app = await buildTestApp({ service: standInService('research', { generate }) });
  await app.listen({ port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const leaving = new AbortController();
  const request = fetch(`http://127.0.0.1:${port}/api/v2/generate`, {
    method: 'POST',
    headers: { 'X-API-Key': newApiKey('live'), 'Content-Type': 'application/json' },
    body: '{"security_level": 128, "enable_nist_validation": true}',
    signal: leaving.signal,
  });
  const outcome = assert.rejects(request, { name: 'AbortError' });
  const abandoned = await arrived.promise;
  assert.equal(abandoned(), false);
  leaving.abort();
  await outcome;
  while (!abandoned()) await new Promise((resolve) => setTimeout(resolve, 5));
  await app.close();
});
