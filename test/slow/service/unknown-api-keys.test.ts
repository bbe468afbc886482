/** A flood of invented API keys only delays clients with a valid one, and writes little to the disk. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeAccount, outlastFlood, sqliteIn } from '../../support/clients/unknown-keys.ts';
import { logLines, makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

/** Requests of the flood to wait for before it ends. */
const REQUESTS = 3_000;

/** Lines about refused requests that a server logs at once, and afterwards in each second. */
const LINES = { burst: 100, perSecond: 10 };

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
    await server.stop();
    const lines = logLines(server.log).filter(({ status }) => status >= 400 && status < 500);
    const seconds = (lines.at(-1).time - lines[0].time) / 1000;
    const allowed = LINES.burst + LINES.perSecond * seconds;
    assert.ok(lines.length <= allowed + 1, `${lines.length} lines in ${seconds} s`);
    assert.match(server.log, /"leftOut":\{.*"429 rate_limited":\d{3}/);
  });
});
