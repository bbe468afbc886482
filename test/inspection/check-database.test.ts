/** What is compared of a database and its log: each change is found and named, and a sound log has no finding. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { NOW } from '../ledger/contract.ts';
import type { Databases } from '../support/ledgers/databases.ts';
import type { HeldKey } from '../support/ledgers/log-writer.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import { sharedPostgres } from '../support/ledgers/shared-postgres.ts';
import { ROOT } from '../support/texts/imports.ts';
import { assertFound, LoggedStore } from './logged-store.ts';
import { KEYS, STATE_CHANGES, TAMPERINGS } from './tamperings.ts';

function contract(open: () => Promise<LoggedStore>): void {
  let logged: LoggedStore;
  let key: HeldKey;
  before(async () => {
    logged = await open();
    await logged.begin();
    const keys = await logged.addKeys(KEYS, NOW - 1_000);
    await logged.publish();
    await logged.save();
    // A turn takes entries in the order of their random IDs: any key may be in the second tile.
    const [entry] = await logged.execute(
      'SELECT entry_id FROM log_entries WHERE entry_index = 100',
    );
    const id = Buffer.from(entry?.entry_id as Uint8Array);
    key = keys.find((one) => id.equals(one.id)) as HeldKey;
  });
  after(() => logged.remove());

  it('finds nothing in a sound ledger, and counts what it compared', async () => {
    const { findings, rows, pending, setAside } = await logged.check();
    assert.deepEqual(findings.list, []);
    const { follows: _, starts, ...counts } = rows;
    const none = { pending: 0, older: 0, pruned: 0, recovered: 0 };
    assert.deepEqual(counts, { logged: KEYS, audits: 1, ...none });
    assert.deepEqual([starts.size, pending, setAside], [1, 0, 0]);
  });

  for (const { name, change, found } of TAMPERINGS) {
    it(`finds ${name}`, async () => {
      try {
        const options = await change(logged, key);
        assertFound(await logged.findings(options), found(key));
      } finally {
        await logged.restore();
      }
    });
  }
}

/** States of keys beside their rows and audit records. */
function states(open: () => Promise<LoggedStore>): void {
  let logged: LoggedStore;
  let revoked: HeldKey;
  let expiring: HeldKey;
  before(async () => {
    logged = await open();
    await logged.begin();
    const expiry = { expiresMs: NOW + 1e9, labels: '{"env":"prod"}' };
    [revoked, expiring] = [
      ...(await logged.addKeys(1, NOW)),
      ...(await logged.addKeys(1, NOW, expiry)),
    ] as [HeldKey, HeldKey];
    await logged.revoke(revoked, 'deactivated', NOW + 1);
    await logged.revoke(revoked, 'compromised', NOW + 2);
    await logged.publish();
    await logged.save();
  });
  after(() => logged.remove());

  it('finds nothing in states that a server has written', async () => {
    assert.deepEqual(await logged.findings(), []);
  });

  for (const { name, change, found } of STATE_CHANGES) {
    it(`finds ${name}`, async () => {
      try {
        await change(logged, revoked, expiring);
        assertFound(await logged.findings(), found(revoked, expiring));
      } finally {
        await logged.restore();
      }
    });
  }
}

describe('the check of a log on SQLite', () => contract(() => LoggedStore.sqlite()));
describe('the check of states on SQLite', () => states(() => LoggedStore.sqlite()));

describe('the check of a log on PostgreSQL', { skip: noPostgres }, () => {
  let databases: Databases;
  after(() => databases?.remove());
  before(async () => {
    databases = await sharedPostgres();
  });
  describe('of rows, entries and records', () =>
    contract(() => LoggedStore.postgres(databases, 'rows')));
  describe('of states', () => states(() => LoggedStore.postgres(databases, 'states')));
});

it('each kind of finding is expected by a test', () => {
  const textOf = (folder: string) =>
    readdirSync(join(ROOT, folder))
      .map((name) => readFileSync(join(ROOT, folder, name), 'utf8'))
      .join('\n');
  const problems = [...textOf('src/inspection').matchAll(/\bproblem:\s*'([^']+)'/g)];
  assert.ok(problems.length > 30);
  const tests = textOf('test/inspection');
  assert.deepEqual(
    problems.map(([, problem = '']) => problem).filter((problem) => !tests.includes(problem)),
    [],
  );
});
