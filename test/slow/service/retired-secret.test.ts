/** A leaked master secret: what a thief can do with a real server, before and after `phm secret retire`. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Keyring, parseMasterSecret } from '../../../src/proof/index.ts';
import { noPostgres } from '../../support/ledgers/postgres.ts';
import { sharedPostgres } from '../../support/ledgers/shared-postgres.ts';
import { until } from '../../support/run/until.ts';
import { masterKey, Replicas } from '../../support/servers/replicas.ts';
import {
  type CommandResult,
  makeDataDir,
  phmJson,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';

const LEVEL = { security_level: 256 };
const OLD_VERSION = { PHM_MASTER_KEY_VERSION: '1' };
const LONG_AGO = '2020-01-01';

interface Listed {
  readonly versions: readonly { readonly retired_at: string | null }[];
}

describe('a leaked master secret', () => {
  const dataDir = makeDataDir();
  let server: Server;
  after(async () => {
    await server.stop();
    removeDataDir(dataDir);
  });

  const phm = (command: string, env = {}): Promise<CommandResult> =>
    runPhm(command.split(' '), dataDir, env);
  async function refused(command: string, words: RegExp, env = {}): Promise<void> {
    const { code, stderr } = await phm(command, env);
    assert.equal(code, 1, command);
    assert.match(stderr, words);
  }
  async function restart(env = {}): Promise<void> {
    await server.stop();
    server = await Server.start(dataDir, env);
  }
  const logged = (words: RegExp) => until(`${words} is logged`, () => words.test(server.log));
  async function judged(asked: object): Promise<unknown[]> {
    const { status, body } = await server.validate(asked);
    assert.equal(status, 200);
    const { proof_verification: proof, retired_secret: record } = body.validation_details;
    return [body.valid, proof, record];
  }
  async function made(): Promise<{ key: string; hash_proof: string }> {
    const { status, body } = await server.generate(LEVEL);
    assert.equal(status, 200);
    return { key: body.key, hash_proof: body.hash_proof };
  }

  /** The proof that the thief forges with the stolen file. */
  let forged: { key: string; hash_proof: string };
  let old: { key: string; hash_proof: string };
  let recent: typeof old;

  it('cannot be retired before another version generates keys', async () => {
    server = await Server.start(dataDir);
    old = await made();
    const thief = new Keyring(parseMasterSecret(readFileSync(join(dataDir, 'master.key'), 'utf8')));
    const key = randomBytes(32);
    forged = { key: key.toString('hex'), hash_proof: thief.makeProof(key) };
    await refused(
      'secret retire 1',
      /is still needed to generate keys: apart from retired versions, no other/,
    );
    assert.equal((await phm('secret rotate')).code, 0);
    await refused(
      'secret retire 1',
      /is still needed to generate keys: apart from retired versions, no other/,
    );
    await refused('secret retire 2', /does not know version 2 of the master secret; it knows 1$/m);
    await restart();
    recent = await made();
    await refused('secret retire 1', /version 1 is current in this configuration/, OLD_VERSION);
    await refused('secret retire 2', /version 2 is current in this configuration/);
    assert.deepEqual(await judged(forged), [true, 'passed', undefined], 'a rotation is not enough');
  });

  it('confirms only keys with a record once it is retired, on the running server', async () => {
    const { code, stderr } = await phm('secret retire 1');
    assert.equal(code, 0, stderr);
    assert.match(stderr, /is valid only if the ledger has its row\. /);
    assert.deepEqual(await judged(forged), [false, 'unconfirmed', 'no_record']);
    assert.deepEqual(await judged({ key: forged.key }), [false, 'failed', undefined]);
    for (const asked of [old, { key: old.key }]) {
      assert.deepEqual(await judged(asked), [true, 'passed', 'record_found']);
    }
    for (const asked of [recent, { key: recent.key }]) {
      assert.deepEqual(await judged(asked), [true, 'passed', undefined]);
    }
    const file = join(dataDir, 'forged.json');
    writeFileSync(file, JSON.stringify(forged));
    const asked = await phm(`validate --file ${file} --url ${server.address}`);
    assert.equal(asked.code, 1);
    assert.match(
      asked.stdout,
      /proof verification {2}unconfirmed\n {2}retired secret {6}no_record\n/,
    );
    assert.match(asked.stderr, /the proof may be forged, or the record was removed/);
    await logged(/"version":1,"compromisedSince":null/);
    assert.equal((await server.request('/readyz')).body.checks.master_secret, 'ok');
  });

  it('accepts an earlier time of the compromise but no later one, and keeps it over a restart', async () => {
    await phmJson(['secret', 'retire', '1', '--compromised-since', LONG_AGO], dataDir);
    await refused(
      'secret retire 1 --compromised-since 2021-01-01',
      /compromised since 2020-01-01T.*with a later time, more rows would count/,
    );
    await restart();
    for (const asked of [old, { key: old.key }]) {
      assert.deepEqual(await judged(asked), [false, 'unconfirmed', 'record_too_late']);
    }
    const { versions } = await phmJson<Listed>(['secret', 'list'], dataDir);
    assert.deepEqual(
      versions.map(({ retired_at: at }) => at !== null),
      [true, false],
    );
  });

  it('prevents the startup of a server that would use it for new keys', async () => {
    await refused('serve', /version 1 .* is retired.*set PHM_MASTER_KEY_VERSION=2/, {
      ...OLD_VERSION,
      PHM_PORT: '0',
    });
  });

  it('stops key generation on a running server that uses it, until it is reinstated', async () => {
    assert.equal((await phm('secret reinstate 1')).code, 0);
    await refused('secret reinstate 1', /version 1 is not retired/);
    assert.deepEqual(await judged(forged), [true, 'passed', undefined], 'it decides alone again');
    await restart({ ...OLD_VERSION, PHM_METRICS_PORT: '0' });
    await made();
    assert.match(await server.scrape(), /^phm_master_secret_retired 0$/m);
    assert.equal((await phm('secret retire 1')).code, 0);
    const secretCheck = async () => (await server.request('/readyz')).body.checks.master_secret;
    await until('the server is not ready', async () => (await secretCheck()) === 'retired');
    const validated = { ...LEVEL, enable_nist_validation: true };
    for (const order of [LEVEL, validated]) {
      const { status, headers, body } = await server.generate(order);
      assert.deepEqual([status, body.code], [503, 'ledger_unavailable']);
      assert.match(body.detail, /version of the master secret .* is retired/);
      assert.equal(headers.get('retry-after'), '5');
    }
    assert.match(await server.scrape(), /^phm_master_secret_retired 1$/m);
    assert.deepEqual(await judged(old), [true, 'passed', 'record_found'], 'validate goes on');
    await logged(/"level":50,.*current version of the master secret is retired/);
    assert.equal((await phm('secret reinstate 1')).code, 0);
    await until('the server is ready', async () => (await secretCheck()) === 'ok');
    await made();
    await logged(/"versions":\[1\],"msg":"versions .* are no longer retired/);
  });
});

describe('two servers on one database, one with an outdated configuration', {
  skip: noPostgres,
}, () => {
  let replicas: Replicas;
  before(async () => {
    replicas = await Replicas.start(
      { PHM_MASTER_KEY: masterKey(2), ...OLD_VERSION },
      await sharedPostgres(),
    );
  });
  after(() => replicas?.remove());

  it('agree at once on a retirement, and the outdated server generates no keys', async () => {
    const { apiKey, servers } = replicas;
    const [forgotten] = servers;
    const old = (await forgotten.generate(LEVEL, apiKey)).body;
    // The command needs no secret, because it relies on the database.
    const { PHM_MASTER_KEY: _, ...env } = replicas.environment;
    const retire = (): Promise<CommandResult> =>
      runPhm(['secret', 'retire', '1'], forgotten.dataDir, env);
    const early = await retire();
    assert.equal(early.code, 1);
    assert.match(
      early.stderr,
      /is still needed to generate keys: apart from retired versions, no other/,
    );
    await servers[1]?.stop('SIGINT');
    const restarted = await replicas.launch(1, { PHM_MASTER_KEY_VERSION: '2' });
    assert.equal((await retire()).code, 0);
    const thief = new Keyring(parseMasterSecret(masterKey(1)));
    const key = randomBytes(32);
    const forged = { key: key.toString('hex'), hash_proof: thief.makeProof(key) };
    for (const server of [forgotten, restarted]) {
      const { body } = await server.validate(forged, apiKey);
      assert.equal(body.validation_details.retired_secret, 'no_record');
      const known = { key: old.key, hash_proof: old.hash_proof };
      assert.equal((await server.validate(known, apiKey)).body.valid, true);
    }
    await until('the forgotten server is not ready', async () => {
      const { status, body } = await forgotten.request('/readyz');
      return status === 503 && body.checks.master_secret === 'retired';
    });
    assert.equal((await forgotten.generate(LEVEL, apiKey)).status, 503);
    assert.equal((await restarted.generate(LEVEL, apiKey)).status, 200);
    assert.equal((await restarted.request('/readyz')).status, 200);
  });
});
