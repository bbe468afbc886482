/**
 * Schemathesis checks a live server against its document: every check, in every phase, with valid requests and
 * with requests that violate the schemas. `test/generated/schemathesis.toml` says what it may report, and why.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sharedPython } from '../support/programs/python.ts';
import { sized } from '../support/run/campaign.ts';
import {
  DEMO_PROFESSIONAL_KEY,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../support/servers/server.ts';

const GENERATED = resolve(import.meta.dirname, '../generated');
const RECIPIENT = resolve(import.meta.dirname, '../../docs/examples/sealed/demo.recipient');
const { python, skip } = await sharedPython('generated');

/** The same requests in every run; PHM_SCHEMATHESIS_SEED selects others. */
const SEED = Number(process.env.PHM_SCHEMATHESIS_SEED ?? 1);

/** Number for each operation and phase, beside the cases of every run. */
const EXAMPLES = sized({ sample: 25, full: 100 });

/** Series of calls that may together not follow every link. One misses one in about one of three. */
const MOST_SERIES = 20;

const PHASES = ['Examples', 'Coverage', 'Fuzzing', 'Stateful'];

describe('Schemathesis', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'schemathesis-'));
  const dataDir = makeDataDir();
  let server: Server;
  /** The key whose commitment the run knows, and the delivery that it has. */
  let known = {};

  before(async () => {
    server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
    const { body } = await server.generate({ security_level: 128, include: ['receipt'] });
    const { key_id, key_commitment } = body.receipt.statement;
    const delivery = await deliver();
    known = {
      PHM_TEST_KEY_ID: key_id,
      PHM_TEST_KEY_COMMITMENT: key_commitment,
      PHM_TEST_DELIVERY_ID: delivery,
    };
  });
  after(async () => {
    await server.stop();
    removeDataDir(dataDir);
    rmSync(folder, { recursive: true, force: true });
  });

  /** Makes a key for a recipient of the account, and resolves with the ID of its delivery. */
  async function deliver(): Promise<string> {
    const add = ['recipient', 'add', 'fuzz', '--account', 'acct_demo_professional'];
    const { code, stderr } = await runPhm([...add, '--public-key', RECIPIENT], dataDir);
    assert.equal(code, 0, stderr);
    const id = randomUUID();
    const { status } = await server.request('/api/v2/generate/sealed', {
      method: 'POST',
      headers: { 'X-API-Key': DEMO_PROFESSIONAL_KEY, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        security_level: 256,
        seal_to: { recipient: 'fuzz' },
        deliver: { id, for: '1d' },
      }),
    });
    assert.equal(status, 200);
    return id;
  }

  /** Resolves with its output, whatever it finds. */
  function run(args: readonly string[]): Promise<string> {
    const config = ['--config-file', join(GENERATED, 'schemathesis.toml')];
    const hooks = join(GENERATED, 'schemathesis_hooks.py');
    const plain = { PYTHONDONTWRITEBYTECODE: '1', COLUMNS: '120' };
    const env = { ...process.env, ...plain, ...known, SCHEMATHESIS_HOOKS: hooks };
    return new Promise((done) => {
      execFile(
        python,
        ['-m', 'schemathesis.cli', ...config, 'run', ...args, '--no-color'],
        { cwd: folder, env, timeout: 900_000, maxBuffer: 2 ** 26 },
        (_error, stdout, stderr) => done(`${stdout}${stderr}`),
      );
    });
  }

  const order = (seed: number) => [
    `${server.address}/api/v2/openapi.json`,
    ...['--header', `X-API-Key: ${DEMO_PROFESSIONAL_KEY}`],
    ...['--max-examples', String(EXAMPLES), '--seed', String(seed)],
    ...['--generation-database', 'none', '--continue-on-failure'],
    // A validated batch may take longer than the default of ten seconds.
    ...['--request-timeout', '60'],
  ];

  it('finds no answer outside the OpenAPI document', async (t) => {
    const said = await run(order(SEED));
    assert.match(said, /No issues found/, said);
    for (const phase of PHASES) assert.match(said, new RegExp(`✅ ${phase}$`, 'm'), said);
    const [cases = '', generated] = /(\d+) generated, \d+ passed.*/.exec(said) ?? [];
    assert.ok(Number(generated) > sized({ sample: 300, full: 1_000 }), `${generated} cases`);
    t.diagnostic(`seed ${SEED}: ${cases}`);
  });

  it('follows every link of the document, and finds no answer outside it', async (t) => {
    // Which links a series of calls follows also depends on the keys that the server generates.
    for (let seed = SEED; seed < SEED + MOST_SERIES; seed += 1) {
      const said = await run([...order(seed), '--phases', 'stateful']);
      assert.match(said, /No issues found/, said);
      const [links = '', covered, total] =
        /API Links: +(\d+) covered .* (\d+) total/.exec(said) ?? [];
      t.diagnostic(`seed ${seed}: ${links}`);
      if (covered !== undefined && covered === total) return;
    }
    assert.fail(`${MOST_SERIES} series of calls have not followed every link`);
  });
});
