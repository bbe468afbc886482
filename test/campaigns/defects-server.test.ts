/**
 * A whole server with a broken generator in every thread: how many keys it releases, and what its health and
 * its log say. The defect exists from the start or begins later.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { EVIDENCE_INTERVAL } from '../../src/keys/plain-evidence.ts';
import { MODULATION_TYPES } from '../../src/modulation/index.ts';
import { defectUrl } from '../support/faults/inject-defect.ts';
import { sized } from '../support/run/campaign.ts';
import {
  type Answer,
  makeDataDir,
  phmJson,
  removeDataDir,
  Server,
} from '../support/servers/server.ts';

/** Concurrent requests for plain keys. */
const CLIENTS = 16;

/**
 * Upper limit of plain keys that may be released: those of the interval in which the defect begins, and those
 * of the next one, while the sample between the two is judged. Then keys wait.
 */
const ALLOWED_PLAIN_KEYS = 2 * EVIDENCE_INTERVAL + CLIENTS;

/** More plain keys than that, so that an undetected defect ends the test. */
const MOST_PLAIN_KEYS = 20_000;

const AT_STARTUP = sized({
  sample: ['lfsr-31'],
  full: ['bytes-twice', 'markov-0.45', 'period-2^16', 'line-ends', 'lfsr-31'],
});
const LATER = sized({ sample: ['parity'], full: ['blocks-twice', 'parity', 'constant-55'] });
const LATER_AMONG_PLAIN_KEYS = sized({ sample: ['markov-0.49'], full: ['parity', 'markov-0.49'] });

const folders: string[] = [];
const servers: Server[] = [];

after(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  for (const folder of folders) removeDataDir(folder);
});

interface Broken {
  readonly server: Server;
  /** Starts the defect, if it does not exist from the start. */
  readonly begin: () => void;
  readonly generate: (withEvidence: boolean, modulation?: string) => Promise<Answer>;
}

async function startBroken(defect: string, begins: 'at once' | 'later'): Promise<Broken> {
  const folder = makeDataDir();
  folders.push(folder);
  const { account_id } = await phmJson<{ account_id: string }>(
    ['account', 'create', '--init', '--name', 'n', '--plan', 'enterprise'],
    folder,
  );
  const issue = ['api-key', 'issue', '--account', account_id];
  const { api_key } = await phmJson<{ api_key: string }>(issue, folder);
  const sign = join(folder, 'the-defect-has-begun');
  const url = defectUrl(defect, begins === 'later' ? sign : null);
  const server = await Server.start(folder, {
    NODE_OPTIONS: `--import ${url}`,
    PHM_RATE_LIMITS: 'off',
  });
  servers.push(server);
  return {
    server,
    begin: () => writeFileSync(sign, ''),
    generate: (withEvidence, modulation = 'phase') => {
      const wish = {
        security_level: 256,
        modulation_type: modulation,
        enable_nist_validation: withEvidence,
      };
      return server.generate(wish, api_key);
    },
  };
}

/** Requests plain keys concurrently until one is refused. Returns the IDs of the released ones. */
async function plainKeysUntilRefused({ generate }: Broken): Promise<string[]> {
  const answered: string[] = [];
  let refused = false;
  const client = async () => {
    while (!refused && answered.length < MOST_PLAIN_KEYS) {
      const { status, body } = await generate(false);
      if (status === 200) answered.push(body.key_id);
      else if (status === 503) refused = true;
      else assert.fail(`status ${status}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  assert.ok(refused, `${answered.length} keys were answered, and none refused`);
  return answered;
}

/** Returns the lines of the log with a message. */
function logged(server: Server, message: string): Record<string, unknown>[] {
  return server.log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === message);
}

/** Checks that a plain key and one with evidence are released. */
async function assertMakesKeys({ generate }: Broken): Promise<void> {
  for (const withEvidence of [false, true])
    assert.equal((await generate(withEvidence)).status, 200);
}

/** Checks that no thread generates keys any more and that the server says why. Stops the server. */
async function assertStopped({ server, generate }: Broken): Promise<void> {
  for (const modulation of MODULATION_TYPES) {
    for (const withEvidence of [false, true]) {
      assert.equal((await generate(withEvidence, modulation)).status, 503);
    }
  }
  const ready = await server.request('/readyz');
  assert.equal(ready.status, 503);
  assert.equal((await server.request('/livez')).status, 200);
  // The log is complete only after the server has exited.
  assert.equal(await server.stop(), 0);
  const stopped = logged(server, 'key generation has stopped');
  assert.equal(stopped.length, 1, 'one line says so');
  assert.deepEqual(
    { cause: stopped[0].cause, test: stopped[0].test },
    { cause: ready.body.latch.cause, test: ready.body.latch.test },
  );
}

describe('a server with a broken generator', () => {
  for (const defect of AT_STARTUP) {
    it(`releases no key if ${defect} is present at startup`, async () => {
      await assertStopped(await startBroken(defect, 'at once'));
    });
  }

  for (const defect of LATER) {
    it(`releases no validated key once ${defect} has begun, and no plain key after it`, async () => {
      const broken = await startBroken(defect, 'later');
      await assertMakesKeys(broken);
      broken.begin();
      assert.equal((await broken.generate(true)).status, 503);
      await assertStopped(broken);
    });
  }

  for (const defect of LATER_AMONG_PLAIN_KEYS) {
    it(`releases at most two intervals of plain keys once ${defect} has begun, and logs them`, async (t) => {
      const broken = await startBroken(defect, 'later');
      await assertMakesKeys(broken);
      broken.begin();
      const answered = await plainKeysUntilRefused(broken);
      t.diagnostic(`${defect}: ${answered.length} plain keys were answered`);
      assert.ok(answered.length <= ALLOWED_PLAIN_KEYS);
      await assertStopped(broken);
      const lines = logged(
        broken.server,
        'plain keys released since their generator was last judged good',
      );
      for (const { lastGoodAt, time } of lines) {
        const ageMs = Number(time) - Date.parse(String(lastGoodAt));
        assert.ok(ageMs > 0 && ageMs < 600_000, `${lastGoodAt}`);
      }
      const named = new Set(lines.flatMap(({ keyIds }) => keyIds));
      assert.deepEqual(
        answered.filter((keyId) => !named.has(keyId)),
        [],
      );
    });
  }

  it('keeps running with a generator that no test of its output can detect', async () => {
    const broken = await startBroken('mt19937', 'at once');
    for (let i = 0; i < 50; i++) await assertMakesKeys(broken);
    assert.equal((await broken.server.request('/readyz')).status, 200);
  });
});
