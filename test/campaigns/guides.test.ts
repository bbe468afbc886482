/** The guides of docs/guides/ that take longer, followed by a reader on real servers, databases and proxies. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { noPostgres, PASSWORD, Postgres } from '../support/ledgers/postgres.ts';
import { PROXIES, RunningProxy } from '../support/programs/proxies.ts';
import { freePort } from '../support/run/free-port.ts';
import { until } from '../support/run/until.ts';
import { makeCertificate } from '../support/servers/certificate.ts';
import {
  type Environment,
  makeDataDir,
  phmJson,
  removeDataDir,
  Server,
} from '../support/servers/server.ts';
import { Reader, readGuide, section } from '../support/texts/guides.ts';

const folders: string[] = [];
const servers: Server[] = [];
after(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
  folders.forEach(removeDataDir);
});

function newFolder(): string {
  const folder = makeDataDir();
  folders.push(folder);
  return folder;
}

async function start(dataDir: string, env: Environment = {}): Promise<Server> {
  const server = await Server.start(dataDir, env);
  servers.push(server);
  return server;
}

interface Caller {
  readonly account: string;
  readonly apiKeyId: string;
  readonly apiKey: string;
}

async function makeCaller(dataDir: string, plan = 'research'): Promise<Caller> {
  const create = ['account', 'create', '--name', 'Ada', '--plan', plan];
  const { account_id } = await phmJson<{ account_id: string }>(create, dataDir);
  const issued = await phmJson<{ api_key_id: string; api_key: string }>(
    ['api-key', 'issue', '--account', account_id],
    dataDir,
  );
  return { account: account_id, apiKeyId: issued.api_key_id, apiKey: issued.api_key };
}

describe('the guide to judging a generator', () => {
  it('gives the figures that it prints', async () => {
    const reader = new Reader(newFolder());
    assert.equal(await reader.follow(readGuide('judge-a-generator')), 6);
    const page = readFileSync(join(reader.folder, 'report.html'), 'utf8');
    assert.match(page, /✗<\/span>Source: FAILED<\/h2>/);
    assert.match(page, /<td>3 of 189 rows failed<\/td>/);
  });
});

describe('the guide to rotating keys', () => {
  const guide = readGuide('rotate-keys');
  const fixed = { PHM_PORT: '' };
  let reader: Reader;
  let server: Server;
  let caller: Caller;

  before(async () => {
    fixed.PHM_PORT = String(await freePort());
    const folder = newFolder();
    const data = join(folder, 'data');
    server = await start(data, fixed);
    caller = await makeCaller(data);
    reader = new Reader(folder, {
      env: { PHM_URL: server.address, PHM_DATA_DIR: data, ...fixed },
      replace: [
        ['<api_key>', caller.apiKey],
        ['<account_id>', caller.account],
        ['<old_api_key_id>', caller.apiKeyId],
      ],
    });
    await reader.follow(readGuide('encrypt-a-file'));
    const text = guide.text.slice(0, guide.text.indexOf('\n## '));
    assert.equal(await reader.follow({ ...guide, text }), 1);
  });

  it('replaces a data key', async () => {
    await reader.run('cp data.jwk before.jwk');
    const { kid } = JSON.parse(readFileSync(join(reader.folder, 'data.jwk'), 'utf8'));
    reader.learn(['<old_key_id>', kid]);
    assert.equal(await reader.follow(section(guide, 'Replace a data key')), 4);
    await reader.run('node crypt.mjs decrypt data.jwk report.enc after.txt');
    await reader.run('cmp report.txt after.txt && cmp before.jwk old.jwk && test ! -e plain.tmp');
    assert.match(
      await reader.run('phm validate --file old.jwk || true'),
      /^not valid\n(?:.*\n)* +key status +deactivated\n/,
    );
    await assert.rejects(
      reader.run('node crypt.mjs decrypt old.jwk report.enc wrong.txt'),
      /unable to authenticate/,
    );
  });

  it('replaces an API key', async () => {
    let issued = '';
    const runs = await reader.follow(section(guide, 'Replace an API key'), {
      done: async (code, output) => {
        if (!code.includes('api-key rotate')) return;
        [issued = ''] = /\bphmsk_live_\w+/.exec(output) ?? [];
        reader.learn(['<new_api_key>', issued]);
      },
    });
    assert.equal(runs, 4);
    await until('the server knows of the revocation', async () => {
      return (await server.metrics('', caller.apiKey)).status === 401;
    });
    assert.equal((await server.metrics('', issued)).status, 200);
  });

  it('rotates the master secret', async () => {
    const runs = await reader.follow(section(guide, 'Rotate the master secret'), {
      done: async (code) => {
        if (!code.includes('secret rotate')) return;
        await server.stop();
        server = await start(server.dataDir, fixed);
      },
    });
    assert.equal(runs, 2);
    const masterKey = readFileSync(join(server.dataDir, 'master.key'), 'utf8');
    assert.match(masterKey, /^1:[0-9a-f]+\n2:[0-9a-f]+\n$/m);
  });
});

describe('the guides to sealed keys', () => {
  let server: Server;
  let caller: Caller;
  before(async () => {
    const data = join(newFolder(), 'data');
    server = await start(data);
    caller = await makeCaller(data, 'professional');
  });

  function newReader(): Reader {
    return new Reader(newFolder(), {
      env: { PHM_URL: server.address },
      replace: [
        ['<api_key>', caller.apiKey],
        ['http://127.0.0.1:8080', server.address],
      ],
    });
  }

  it('encrypt a file, and keep no key in plain text', async () => {
    const reader = newReader();
    await reader.follow(readGuide('encrypt-a-file'));
    assert.equal(await reader.follow(readGuide('encrypt-a-file-with-a-sealed-key')), 7);
    await reader.run('cmp minutes.txt minutes-copy.txt && test ! -e minutes.jwk');
  });

  it('give a key to a colleague, who alone can open it', async () => {
    const reader = newReader();
    assert.equal(await reader.follow(readGuide('give-a-key-to-a-colleague')), 7);
    assert.match(await reader.run('phm validate --file data.key'), /^valid\n/);
    assert.equal(existsSync(join(reader.folder, 'stolen.key')), false);
  });

  it('fill a folder with a thousand keys, each once', async () => {
    const reader = newReader();
    assert.equal(await reader.follow(readGuide('keys-for-devices')), 6);
  });
});

describe('the guide to the same key at two sites', () => {
  let reader: Reader;
  // Its last step stops the agents; a test that fails before must not leave them.
  after(() => reader?.run('cd "$HOME/project/two-sites" && kill $(cat *.pid) || true'));

  it('gives two agents one key, once', async () => {
    reader = new Reader(newFolder());
    // As `npm start` keeps its data in the folder of the project.
    const server = await start(join(reader.folder, 'data'));
    reader.learn(
      ['http://127.0.0.1:8080', server.address],
      ['9001', String(await freePort())],
      ['9002', String(await freePort())],
    );
    assert.equal(await reader.follow(readGuide('same-key-at-two-sites')), 11);
    const [paris, lyon] = ['paris', 'lyon'].map((site) =>
      readFileSync(join(reader.folder, 'two-sites', `${site}.log`), 'utf8'),
    );
    for (const log of [paris, lyon]) assert.match(log ?? '', /"message":"listening"/);
  });
});

describe('the guide to PostgreSQL', { skip: noPostgres }, () => {
  let postgres: Postgres;
  before(async () => {
    // A server of its own: the guide creates a database by a fixed name.
    postgres = await Postgres.start();
  });
  after(() => postgres?.remove());

  it('moves a ledger there and back', async () => {
    const folder = newFolder();
    const data = join(folder, 'var/lib/phm');
    mkdirSync(join(folder, 'var/lib'), { recursive: true });
    let server = await start(data);
    const caller = await makeCaller(data);
    const target = `postgres://phm:${PASSWORD}@127.0.0.1:${postgres.port}/phm`;
    const reader = new Reader(folder, {
      replace: [
        ['postgres://phm:<password>@db.example/phm?sslmode=verify-full', target],
        [
          'http://127.0.0.1:8080 PHM_API_KEY=<api_key>',
          `${server.address} PHM_API_KEY=${caller.apiKey}`,
        ],
        ['<password>', PASSWORD],
        ['/var/lib/phm', data],
      ],
    });
    const runs = await reader.follow(readGuide('move-to-postgresql'), {
      other: async ({ language, code }) => {
        assert.equal(language, 'sql');
        // The role of the tests has the name of the guide's.
        for (const statement of code.trim().split('\n')) {
          if (!statement.startsWith('CREATE ROLE phm '))
            await postgres.query('postgres', statement);
        }
      },
      done: async (code) => {
        if (code.includes('phm migrate')) assert.equal(await server.stop(), 0);
        if (!code.startsWith('export PHM_DATABASE_URL')) return;
        const env = { PHM_DATABASE_URL: target, PHM_MASTER_KEY_FILE: join(data, 'master.key') };
        server = await start(join(folder, 'unused'), env);
        await reader.run(`export PHM_URL=${server.address}`);
      },
    });
    assert.equal(runs, 7);
    await server.stop();
    const back = await start(`${data}-new`);
    const key = JSON.parse(readFileSync(join(reader.folder, 'check.jwk'), 'utf8')).k;
    const hex = Buffer.from(key, 'base64url').toString('hex');
    assert.equal((await back.validate({ key: hex }, caller.apiKey)).body.valid, true);
    assert.ok(existsSync(join(data, 'phm.db')));
  });
});

for (const example of PROXIES) {
  const { name, program } = example;
  const skip = !program && `${name} is not installed here`;
  describe(`the guide to reverse proxies, with ${name}`, { skip }, () => {
    let proxy: RunningProxy;
    after(() => proxy?.stop());

    it('leads to a service that answers as printed', async () => {
      const folder = newFolder();
      const certificate = join(folder, 'tls.crt');
      makeCertificate(certificate, `${certificate}.key`);
      const data = join(folder, 'data');
      const port = await freePort();
      const address = `https://localhost:${port}`;
      const reader = new Reader(folder, {
        env: { CURL_CA_BUNDLE: certificate, NODE_EXTRA_CA_CERTS: certificate },
        replace: [['https://keys.example.com', address]],
      });
      let server: Server | undefined;
      const runs = await reader.follow(readGuide('reverse-proxy'), {
        done: async (code) => {
          if (code.startsWith('export PHM_TRUST_PROXY')) {
            const exported = [...code.matchAll(/^export (\w+)=(\w+)/gm)];
            const env = Object.fromEntries(exported.map(([, key, value]) => [key, value]));
            assert.equal(env.PHM_DRAIN_SECONDS, '5');
            server = await start(data, { ...env, PHM_DRAIN_SECONDS: '0' });
            const { apiKey } = await makeCaller(data);
            reader.learn(['<api_key>', apiKey]);
            const setting = {
              folder: join(folder, 'proxy'),
              port,
              server: new URL(server.address).host,
              certificate,
            };
            proxy = await RunningProxy.start(example, setting);
          }
          if (code.includes('--data-binary')) assert.equal(await server?.stop(), 0);
        },
      });
      assert.equal(runs, 5);
    });
  });
}
