/** A flood of invented API keys only delays clients with a valid one, and writes little to the disk. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeDataDir, removeDataDir, Server } from '../../support/server.ts';
import { makeAccount, outlastFlood, sqliteIn } from '../../support/unknown-keys.ts';

/** Requests of the flood to wait for before it ends. */
const REQUESTS = 3_000;

describe('a flood of unknown API keys', () => {
  const dataDir = makeDataDir();
  let server: Server;
  before(async () => {
    server = await Server.start(dataDir);
  });
  after(async () => {
    await server?.stop();
    removeDataDir(dataDir);
  });

  it('is rejected, while valid API keys get answers, recently used or new', async () => {
    await outlastFlood(server, await makeAccount(sqliteIn(dataDir)), REQUESTS);
  });

  it('does not fill the disk with log lines', async () => {
    const lines = server.log.split('\n').filter((line) => line.includes('"status":4'));
    assert.ok(lines.length < REQUESTS / 2, `${lines.length} lines`);
    await server.stop();
    assert.match(server.log, /"leftOut":\{.*"429 rate_limited":\d{3}/);
  });
});
