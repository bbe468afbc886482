/** The demo key that a server announces: one that requests may use. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '../../src/config/index.ts';
import { SOURCE_NAMES } from '../../src/entropy/index.ts';
import { prepareLedger } from '../../src/serve/ledger-start.ts';
import type { Lifecycle, ServerParts } from '../../src/serve/parts.ts';
import { runCommand } from '../support/servers/run-command.ts';
import {
  DEMO_KEY,
  DEMO_PROFESSIONAL_KEY,
  makeDataDir,
  removeDataDir,
} from '../support/servers/server.ts';

describe('the demo key that a server announces', () => {
  const dataDir = makeDataDir();
  after(() => removeDataDir(dataDir));
  const env = { PHM_DATA_DIR: dataDir };

  /** Prepares the ledger as a start does, and returns the demo key. */
  async function announced(): Promise<string | null> {
    const read = readConfig(env, { cores: 2, knownSources: SOURCE_NAMES, serves: true });
    assert.ok(read.ok);
    const lifecycle: Lifecycle = { draining: false, demoKeysEnded: false, demoApiKey: null };
    const logger = pino({ level: 'silent' });
    const parts = { config: read.config, demoPolicy: 'admit-direct', lifecycle, logger } as const;
    await prepareLedger(parts as unknown as ServerParts);
    return lifecycle.demoApiKey;
  }

  async function account(...words: string[]): Promise<void> {
    const { code, stderr } = await runCommand(['account', ...words], env);
    assert.equal(code, 0, stderr);
  }

  it('is that of an account that is not suspended', async () => {
    assert.equal(await announced(), DEMO_KEY);
    await account('suspend', 'acct_demo_research', '--reason', 'a test');
    assert.equal(await announced(), DEMO_PROFESSIONAL_KEY);
    await account('suspend', 'acct_demo_professional', '--reason', 'a test');
    assert.equal(await announced(), null);
    await account('resume', 'acct_demo_research');
    assert.equal(await announced(), DEMO_KEY);
  });

  it('has not expired', async () => {
    const database = new DatabaseSync(join(dataDir, 'phm.db'));
    database.exec("UPDATE api_keys SET expires_ms = 1 WHERE api_key_id = 'key_demo_research'");
    database.close();
    assert.equal(await announced(), null);
  });
});
