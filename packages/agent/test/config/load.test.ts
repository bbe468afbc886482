/** A configuration is checked as a whole: every fault at once, with its place, and no secret in any message. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, beforeEach, describe, it } from 'node:test';
import { ED25519, formatVerifierKey, keyIdMessage } from '../../../tlog/src/index.ts';
import { ConfigError, loadConfig } from '../../src/config/load.ts';
import { type Json, LocalAgents, type Site } from '../support/local-agents.ts';

let agents: LocalAgents;
let site: Site;
let config: Json;

/** Returns the faults of the configuration, and none if it is good. */
async function faults(env: Record<string, string> = {}): Promise<readonly string[]> {
  writeFileSync(site.configFile, JSON.stringify(config));
  try {
    await loadConfig(site.configFile, env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError, `${error}`);
    return error.faults;
  }
}

/** Returns a member of the configuration, to be changed. */
const at = (...names: (string | number)[]): Json =>
  names.reduce<Json>((one, name) => one[name] as Json, config);

async function oneFault(pattern: RegExp): Promise<void> {
  const list = await faults();
  assert.equal(list.length, 1, list.join('\n'));
  assert.match(list[0] ?? '', pattern);
}

/** Returns the verifier key of a new log. */
function newLogKey(name: string): string {
  const publicKey = new Uint8Array(randomBytes(32));
  const id = createHash('sha256')
    .update(keyIdMessage(name, ED25519, publicKey))
    .digest();
  return formatVerifierKey({ name, type: ED25519, publicKey, keyId: id.readUInt32BE() });
}

before(async () => {
  agents = await LocalAgents.create();
  for (const name of ['a1', 'b1']) agents.client(name);
  writeFileSync(join(agents.folder, 'clients.pem'), '');
  const { a } = await agents.sites();
  site = a;
});

beforeEach(async () => {
  config = structuredClone(site.config);
  const { certFile } = agents.client('a1');
  for (const listener of config.listeners as { tls?: Json }[]) {
    if (listener.tls) listener.tls.client_ca_file = certFile;
  }
});

describe('a good configuration', () => {
  it('is taken with its defaults', async () => {
    delete config.pools;
    delete config.metrics;
    assert.deepEqual(await faults(), []);
    const loaded = await loadConfig(site.configFile, {});
    assert.deepEqual(loaded.pools, {
      size: 256,
      seconds: 60,
      least: 32,
      most: 1000,
      lifeMs: 3_600_000,
    });
    assert.equal(loaded.metrics, null);
    assert.equal(loaded.own.thumbprint, site.thumbprint);
    assert.equal(loaded.services[0]?.apiKey, 'phmsk_x');
  });

  it('has the same contexts at both ends, and others for other routes', async () => {
    const { a, b } = await agents.sites();
    writeFileSync(join(agents.folder, 'clients.pem'), '');
    const [one, two] = await Promise.all([a, b].map((each) => loadConfig(each.configFile, {})));
    const contexts = (loaded: typeof one) => loaded?.routes.map(({ context }) => context) ?? [];
    assert.deepEqual(contexts(one).slice(0, 3), contexts(two));
    assert.equal(new Set(contexts(one)).size, 4);
    site = a;
  });

  it('serves no systems without their members, and needs all of them with one', async () => {
    const serving = ['systems', 'access', 'listeners'] as const;
    const members = serving.map((name) => [name, config[name]] as const);
    for (const name of serving) delete config[name];
    delete at('peers', 0).systems;
    assert.deepEqual(await faults(), []);
    const { peers, listeners, routes } = await loadConfig(site.configFile, {});
    assert.deepEqual([peers.map(({ name }) => name), listeners, routes], [['site-b'], [], []]);
    const [name, value] = members[0] ?? ['systems'];
    config[name] = value;
    assert.deepEqual(
      (await faults()).map((fault) => fault.split(':')[0]),
      ['peers[0].systems', 'access', 'listeners'],
    );
  });

  it('takes the API key of a variable', async () => {
    delete at('services', 0).api_key_file;
    at('services', 0).api_key_env = 'PHM_API_KEY';
    assert.deepEqual(await faults({ PHM_API_KEY: 'phmsk_y' }), []);
    assert.deepEqual(await faults(), [
      'services[0].api_key_env: the variable PHM_API_KEY is not set',
    ]);
  });
});

describe('the faults of a configuration', () => {
  it('are all named at once', async () => {
    config.extra = 1;
    config.name = '';
    at('services', 0).url = 'http://keys.example';
    at('peers', 0).thumbprint = 'x';
    at('access', 0).slaves = ['nobody'];
    at('listeners', 1).host = '0.0.0.0';
    at('pools').key_life = '5m';
    rmSync(join(site.folder, 'recipient-key-2'), { force: true });
    config.private_key_file = join(site.folder, 'recipient-key-2');
    const list = await faults();
    const places = list.map((fault) => fault.split(': ')[0]);
    for (const place of [
      'extra',
      'name',
      'services[0].url',
      'peers[0].thumbprint',
      'access[0]',
      'listeners[1].host',
      'pools.key_life',
      'private_key_file',
    ]) {
      assert.ok(places.includes(place), `${place}\n${list.join('\n')}`);
    }
  });

  it('are what is missing, unknown, or of another type', async () => {
    config = {};
    const missing = (await faults()).map((fault) => fault.split(': ')[0]);
    for (const name of ['name', 'recipient', 'private_key_file', 'state_dir', 'services']) {
      assert.ok(missing.includes(name), name);
    }
    writeFileSync(site.configFile, '[]');
    await assert.rejects(loadConfig(site.configFile, {}), /expected a JSON object/);
    writeFileSync(site.configFile, '{"name":"a","name":"b"}');
    await assert.rejects(loadConfig(site.configFile, {}), /twice/);
    writeFileSync(site.configFile, '{');
    await assert.rejects(loadConfig(site.configFile, {}), /not JSON/);
    await assert.rejects(loadConfig(join(site.folder, 'none.json'), {}), /there is no such file/);
  });

  it('are secrets in the file, which they do not quote', async () => {
    const secret = 'phmsk_ThisIsASecret';
    at('services', 0).api_key = secret;
    config.private_key = secret;
    const list = await faults();
    assert.equal(list.length, 2);
    assert.match(
      list.join('\n'),
      /services\[0\]\.api_key: no secret belongs in this file: name its own file by api_key_file/,
    );
    assert.match(list.join('\n'), /^private_key: no secret .* private_key_file$/m);
    assert.ok(!list.join().includes(secret));
  });

  it('are names that two have', async () => {
    const peer = at('peers', 0);
    (config.peers as Json[]).push({ ...peer, systems: ['c1'] });
    const list = await faults();
    assert.deepEqual(list.map((fault) => fault.split(': ')[0]).sort(), [
      'peers[1].name',
      'peers[1].recipient',
      'peers[1].thumbprint',
    ]);
    config.peers = [{ ...peer, systems: ['a1', 'b1', 'b2'] }];
    await oneFault(/^peers\[0\]\.systems: has "a1"/);
    config.peers = [{ ...peer, thumbprint: site.thumbprint }];
    await oneFault(/^peers\[0\]\.thumbprint: is that of another agent, or of this one/);
  });

  it('are routes that are there twice, or without a system of this agent', async () => {
    (config.access as Json[]).push({ master: 'a1', slaves: ['b2', 'b1'] });
    await oneFault(/^access\[4\]: is there twice/);
    config.access = [{ master: 'b1', slaves: ['b2'] }];
    await oneFault(/^access\[0\]: names no system of this agent/);
  });

  it('are listeners that would let in everybody', async () => {
    at('listeners', 1).host = '10.0.0.1';
    await oneFault(/^listeners\[1\]\.host: expected a loopback address for plain HTTP/);
    at('listeners', 1).host = '127.0.0.1';
    delete at('listeners', 1).caller;
    await oneFault(/^listeners\[1\]\.tls: expected one of tls, psk, and caller/);
    at('listeners', 1).caller = 'b1';
    await oneFault(/^listeners\[1\]\.caller: expected one of "systems"/);
    at('listeners', 1).caller = 'a1';
    at('metrics').host = '0.0.0.0';
    await oneFault(/^metrics\.host: expected a loopback address/);
  });

  it('are pre-shared keys that are short, of nobody, or there twice', async () => {
    const file = join(site.folder, 'psk');
    const whole = readFileSync(file, 'utf8');
    writeFileSync(file, 'ab'.repeat(31));
    await oneFault(/^listeners\[3\]\.psk\[0\]\.file: expected 64 to 128 hexadecimal digits/);
    writeFileSync(file, whole);
    at('listeners', 3).psk = [
      { system: 'b1', file },
      { system: 'a1', file },
      { system: 'a1', file },
    ];
    assert.deepEqual(await faults(), [
      'listeners[3].psk[0].system: expected one of "systems"',
      'listeners[3].psk[1].file: has the key of another system: each needs its own',
      'listeners[3].psk[2].system: is there twice',
      'listeners[3].psk[2].file: has the key of another system: each needs its own',
    ]);
    writeFileSync(file, 'ab'.repeat(32));
    at('listeners', 3).psk = [{ system: 'a1', file }];
    await oneFault(/^listeners\[3\]\.psk\[0\]\.file: one byte is repeated/);
    writeFileSync(file, whole);
    at('listeners', 3).psk = [
      { system: 'a1', file },
      { system: 'a2', file },
    ];
    await oneFault(/^listeners\[3\]\.psk\[1\]\.file: has the key of another system/);
    at('listeners', 3).psk = [{ system: 'a1', file }];
    at('listeners', 3).caller = 'a1';
    await oneFault(/^listeners\[3\]\.tls: expected one of tls, psk, and caller/);
  });

  it('are names that SKIP reads as patterns', async () => {
    config.systems = ['a1', 'a2', 'router-[ab]'];
    await oneFault(/^SKIP reads .* so no system can be named "router-\[ab\]"/);
    config.listeners = (config.listeners as Json[]).slice(0, 2);
    assert.deepEqual(await faults(), []);
  });

  it('are files that others can read or change, and certificates that do not fit', async () => {
    const key = join(site.folder, 'recipient-key');
    chmodSync(key, 0o604);
    await oneFault(/^private_key_file: every user of this machine can read it/);
    chmodSync(key, 0o602);
    await oneFault(/^private_key_file: every user of this machine can change/);
    chmodSync(key, 0o600);
    config.listeners = [at('listeners', 0)];
    at('listeners', 0, 'tls').certificate_file = agents.client('b1').certFile;
    await oneFault(/^listeners\[0\]\.tls: TLS refuses these files/);
  });

  it('never quote a private key', async () => {
    const file = join(site.folder, 'broken-key');
    writeFileSync(file, '{"private_key":"SECRET"', { mode: 0o600 });
    config.private_key_file = file;
    await oneFault(/^private_key_file: the recipient key: expected a JSON object, got other text$/);
  });

  it('are a state directory that is missing, no directory, or with a long name', async () => {
    config.state_dir = join(site.folder, 'none');
    assert.ok(!existsSync(config.state_dir as string));
    await oneFault(/^state_dir: there is no such directory/);
    config.state_dir = site.configFile;
    await oneFault(/^state_dir: it is no directory/);
    config.state_dir = `/${'x'.repeat(90)}`;
    assert.match((await faults()).join('\n'), /state_dir: expected at most 80 bytes/);
    config.state_dir = 'state';
    await oneFault(/^state_dir: expected an absolute path/);
  });

  it('are two services that are one', async () => {
    const [service = {}] = config.services as Json[];
    const other = { ...service, url: 'https://other.example' };
    config.services = [service, { ...service }];
    const [first = '', second = '', ...more] = await faults();
    assert.match(first, /^services\[1\]: is the first service again/);
    assert.match(second, /^services\[1\]\.policy_file: has the public key of the log of the first/);
    assert.deepEqual(more, []);
    config.services = [service, other];
    assert.equal((await faults()).length, 2, 'another address, and the same log');
    const policy = join(site.folder, 'other.policy');
    writeFileSync(policy, `log ${newLogKey('other.invalid/log')}\nquorum none\n`);
    config.services = [service, { ...other, policy_file: policy }];
    assert.deepEqual(await faults(), []);
    config.services = [service, other, other];
    await oneFault(/^services: expected a list of 1 to 2/);
  });

  it('are a log that the policy does not have', async () => {
    at('services', 0).origin = 'other.example';
    await oneFault(/^services\[0\]\.origin: expected one of the logs of the policy: "phm\.invalid/);
    at('services', 0).origin = 'phm.invalid/0ae7346d8a7fbff7';
    assert.deepEqual(await faults(), []);
  });
});
