/**
 * A long flood of invented API keys on both databases, with valid keys in use, idle, and issued meanwhile, and
 * a server that starts during it. No client with a valid key gets a 503.
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreLocation } from '../../src/ledger/index.ts';
import {
  makeAccount,
  outlastFlood,
  sqliteIn,
  UnknownKeys,
} from '../support/clients/unknown-keys.ts';
import { Postgres } from '../support/ledgers/postgres.ts';
import { reportTime } from '../support/run/campaign.ts';
import { until } from '../support/run/until.ts';
import {
  type Environment,
  logLines,
  makeDataDir,
  phmJson,
  removeDataDir,
  Server,
} from '../support/servers/server.ts';

const IDLE_MS = 8_000;
const ROUNDS = 2;

/** A revoked key is refused two seconds later; the rest is the response time of a server in a flood. */
const REVOKED_MS = 5_000;

const MASTER_KEY = '5a'.repeat(32);

/** Lines about refused requests that a server logs at once, and afterwards in each second. */
const LINES = { burst: 100, perSecond: 10 };

/** Lines of valid keys count for nothing: their number depends on the speed of the machine. */
function assertFewLines(log: string): void {
  const lines = logLines(log);
  const seconds = (lines.at(-1).time - lines[0].time) / 1000;
  const refused = lines.filter(({ status }) => status >= 400 && status < 500).length;
  const allowed = LINES.burst + LINES.perSecond * seconds;
  assert.ok(refused > LINES.burst, `only ${refused} lines about the flood`);
  assert.ok(refused <= allowed + 1, `${refused} lines about the flood in ${seconds} s`);
}

for (const backend of ['SQLite', 'PostgreSQL']) {
  describe(`a long flood of unknown API keys, on ${backend}`, () => {
    const dataDir = makeDataDir();
    const servers: Server[] = [];
    let postgres: Postgres | undefined;
    const start = async (env: Environment) => {
      const server = await Server.start(dataDir, env);
      servers.push(server);
      return server;
    };
    after(async () => {
      await Promise.all(servers.map((server) => server.stop('SIGKILL')));
      await postgres?.remove();
      removeDataDir(dataDir);
    });

    it('does not affect valid keys, known to the server or not', async (test) => {
      // A server of its own, which no other file slows down.
      if (backend === 'PostgreSQL') postgres = await Postgres.start();
      const url = await postgres?.createLedger('flood');
      const env: Environment = url ? { PHM_DATABASE_URL: url, PHM_MASTER_KEY: MASTER_KEY } : {};
      const server = await start(env);
      const store: StoreLocation = url ? { kind: 'postgres', url } : sqliteIn(dataDir);
      // The server has just started and knows no key.
      const account = await makeAccount(store);
      await outlastFlood(server, account, 5_000);
      const flood = new UnknownKeys(server);
      const statuses: number[] = [];
      const ask = async (apiKey: string) => {
        const { status } = await server.metrics('', apiKey);
        statuses.push(status);
        return status;
      };
      for (let round = 0; round < ROUNDS; round += 1) {
        const idle = sleep(IDLE_MS);
        const issued = (await makeAccount(store)).seen;
        await ask(issued);
        let waiting = true;
        void idle.then(() => {
          waiting = false;
        });
        while (waiting) await ask(account.seen);
        await ask(account.unseen[0]);
      }
      assert.deepEqual(new Set(statuses), new Set([200]));
      await phmJson(['api-key', 'revoke', account.seenId], dataDir, env);
      const revokedMs = performance.now();
      const isRefused = async () => (await server.metrics('', account.seen)).status !== 200;
      await until('the revoked key is refused', isRefused);
      const name = 'from the revocation of a key to its refusal';
      const value = performance.now() - revokedMs;
      reportTime(test, { name, value, atMost: REVOKED_MS, unit: 'ms' });
      await flood.stop();
      assert.equal(await server.stop(), 0);
      assertFewLines(server.log);
      assert.deepEqual(
        [...flood.answers.keys()].filter((answer) => !/^4(?:01|29) /.test(answer)),
        [],
      );
      process.stdout.write(
        `# ${flood.answered} requests of the flood, ${statuses.length} others\n`,
      );
    });
  });
}
