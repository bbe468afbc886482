/** The ledger's tests on the PostgreSQL of this machine, which may be older than the package's. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { findInstalled } from '../support/ledgers/postgres.ts';
import { sized } from '../support/run/campaign.ts';

const bin = findInstalled(['initdb', 'postgres']);

const FILES = sized({
  sample: ['slow/log/log-ledger.test.ts', 'slow/ledger/servers-on-postgres.test.ts'],
  full: [
    'slow/ledger/postgres.test.ts',
    'slow/ledger/postgres-growth.test.ts',
    'slow/log/log-ledger.test.ts',
    'slow/ledger/servers-on-postgres.test.ts',
  ],
});

describe('an installed PostgreSQL', {
  skip: bin === null && 'no server, 15 or newer, is in /usr/lib/postgresql',
}, () => {
  it('fulfils the contract of the ledger', async (t) => {
    t.diagnostic(`programs of ${bin}`);
    const files = FILES.map((file) => resolve(import.meta.dirname, '..', file));
    // Without this, the runner takes the child for one of its own, which reports differently.
    const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
    const env = { ...inherited, TEST_POSTGRES_BIN: bin ?? '' };
    const child = spawn(process.execPath, ['--test', '--test-concurrency=2', ...files], { env });
    let output = '';
    child.stdout.on('data', (text) => {
      output += text;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 0, output);
    assert.match(output, /# ?fail 0|ℹ fail 0/);
  });
});
