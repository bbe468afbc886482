/**
 * docs/guides/upgrade.md, followed on SQLite and PostgreSQL from this release to an invented later one and back, while a
 * client generates keys. The later release is a copy of this one with one more migration. `systemctl` is a script that
 * starts and stops a server. Two minutes on two busy cores. Expected on PostgreSQL: every request is answered with 200.
 */
import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findInstalled, noPostgres, PASSWORD, Postgres } from '../support/ledgers/postgres.ts';
import { freePort } from '../support/run/free-port.ts';
import { Balancer } from '../support/servers/balancer.ts';
import {
  type Environment,
  makeDataDir,
  phmJson,
  removeDataDir,
} from '../support/servers/server.ts';
import { Reader, readGuide, section } from '../support/texts/guides.ts';
import { ROOT } from '../support/texts/imports.ts';
import type { Page } from '../support/texts/markdown.ts';

const NEW = '/opt/phm-key-service-0.1.0';
/** `start` waits for readiness, `stop` for the end. SERVER names the server. */
const SYSTEMCTL = `#!/bin/sh
set -e
pid=$UNITS/$SERVER.pid port=$(cat $UNITS/$SERVER.port)
if [ $1 != start ]; then kill $(cat $pid); while kill -0 $(cat $pid) 2>/dev/null; do sleep 0.1; done; fi
if [ $1 = stop ]; then exit; fi
PHM_PORT=$port PHM_LOG_STATE_FILE=$UNITS/$SERVER.state $UNITS/opt/phm/bin/phm serve >>$UNITS/$SERVER.log 2>&1 &
echo $! >$pid
until curl --silent --fail http://127.0.0.1:$port/readyz >/dev/null; do kill -0 $(cat $pid); sleep 0.1; done
`;

const guide = readGuide('upgrade');
const pgBin = findInstalled(['postgres', 'pg_dump', 'pg_restore', 'createdb', 'dropdb']);

/** Makes both releases, the link and `systemctl` in a folder. */
function makeMachine(folder: string, kind: 'sqlite' | 'postgres'): void {
  const opt = join(folder, 'opt');
  for (const release of ['old', 'new']) {
    mkdirSync(join(opt, release), { recursive: true });
    for (const name of readdirSync(ROOT)) {
      if (name.startsWith('.') || (release === 'new' && name === 'src')) continue;
      symlinkSync(join(ROOT, name), join(opt, release, name));
    }
  }
  cpSync(join(ROOT, 'src'), join(opt, 'new/src'), { recursive: true });
  const oldest = kind === 'sqlite' ? 9000 : 8;
  writeFileSync(
    join(opt, 'new/src/ledger/migrations', kind, '9000-later.sql'),
    `-- oldest-program: ${oldest}\nALTER TABLE ledger ADD COLUMN tomorrow TEXT;\n`,
  );
  symlinkSync(join(opt, 'old'), join(opt, 'phm'));
  mkdirSync(join(folder, 'programs'));
  writeFileSync(join(folder, 'programs/systemctl'), SYSTEMCTL);
  chmodSync(join(folder, 'programs/systemctl'), 0o755);
}

/** Installs nothing: test/campaigns/release.test.ts does. */
function withoutInstalling({ path, text }: Page): Page {
  const left = text.replace(/```sh\n *tar -xzf [\s\S]*?```/, '');
  assert.notEqual(left, text);
  return { path, text: left };
}

/** Splits a section at its third-level headings: what stands before them, and each below its heading. */
function parts(page: Page): Page[] {
  return page.text.split(/^(?=### )/m).map((text) => ({ path: page.path, text }));
}

/** Generates keys until it is stopped, and counts the answers by status. */
class Client {
  readonly counts: Record<string, number> = {};
  readonly keys: string[] = [];
  #stopped = false;
  readonly #end: Promise<void>;

  constructor(address: string, apiKey: string) {
    this.#end = this.#run(address, apiKey);
  }

  async #run(address: string, apiKey: string): Promise<void> {
    while (!this.#stopped) {
      const status = await generate(address, apiKey, this.keys);
      this.counts[status] = (this.counts[status] ?? 0) + 1;
      // A server that is down refuses at once.
      if (status === 'refused') await new Promise((go) => setTimeout(go, 50));
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#end;
  }
}

async function post(
  address: string,
  apiKey: string,
  path: string,
  body: unknown,
): Promise<Response> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  return await fetch(`${address}/api/v2/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
}

async function generate(address: string, apiKey: string, keys: string[]): Promise<string> {
  try {
    const response = await post(address, apiKey, 'generate', { security_level: 256 });
    const { key } = (await response.json()) as { key?: string };
    if (key !== undefined) keys.push(key);
    return String(response.status);
  } catch {
    return 'refused';
  }
}

async function assertKnown(
  address: string,
  apiKey: string,
  keys: readonly string[],
): Promise<void> {
  for (const key of [keys.at(0), keys.at(-1)]) {
    const response = await post(address, apiKey, 'validate', { key });
    assert.equal(((await response.json()) as { valid: boolean }).valid, true);
  }
}

async function makeAccount(dataDir: string, env: Environment): Promise<string> {
  const create = ['account', 'create', '--name', 'one', '--plan', 'enterprise'];
  const { account_id } = await phmJson<{ account_id: string }>(create, dataDir, env);
  const issue = ['api-key', 'issue', '--account', account_id];
  return (await phmJson<{ api_key: string }>(issue, dataDir, env)).api_key;
}

describe('the guide to an upgrade, on SQLite', () => {
  const folder = makeDataDir();
  const data = join(folder, 'data');
  let reader: Reader;
  let address: string;
  let apiKey: string;

  before(async () => {
    makeMachine(folder, 'sqlite');
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    writeFileSync(join(folder, 'phm.port'), String(port));
    reader = new Reader(folder, {
      env: {
        PATH: `${join(folder, 'programs')}${delimiter}${process.env.PATH}`,
        UNITS: folder,
        SERVER: 'phm',
        PHM_DATA_DIR: data,
        PHM_PORT: String(port),
        PHM_LOG_STATE_FILE: join(folder, 'phm.state'),
        PHM_WORKERS: '1',
      },
      replace: [
        [NEW, join(folder, 'opt/new')],
        ['/opt/phm-old', join(folder, 'opt/old')],
        ['/opt/phm', join(folder, 'opt/phm')],
        ['/var/lib/phm', data],
        ['http://127.0.0.1:8080', address],
      ],
    });
    await reader.run('systemctl start phm');
    apiKey = await makeAccount(data, { PHM_LOG_STATE_FILE: join(folder, 'phm.state') });
  });
  after(async () => {
    await reader?.run('systemctl stop phm || true');
    removeDataDir(folder);
  });

  it('leads to the new release and back, with all keys and one log', async () => {
    const keys: string[] = [];
    await generate(address, apiKey, keys);
    const [prepare, sqlite] = parts(section(guide, 'Prepare'));
    assert.ok(prepare && sqlite);
    const outputs: string[] = [];
    const done = async (_code: string, output: string): Promise<void> => {
      outputs.push(output);
    };
    assert.equal(await reader.follow(withoutInstalling(prepare), { done }), 2);
    assert.match(outputs[0] ?? '', /^warning +schema .* this program needs version 9000/m);
    assert.equal(await reader.follow(sqlite, { done }), 1);
    assert.match(
      outputs[2] ?? '',
      /Migrated the schema from version \d+ to 9000[\s\S]*No problems/,
    );

    const client = new Client(address, apiKey);
    try {
      assert.equal(await reader.follow(section(guide, 'One server on SQLite')), 1);
      await generate(address, apiKey, keys);
    } finally {
      await client.stop();
    }
    assert.equal(await reader.follow(section(guide, 'Check after'), { done }), 2);
    assert.match(outputs[3] ?? '', /^ok +schema +version 9000[\s\S]* 0 failed/m);
    assert.match(outputs[4] ?? '', /It contains the \d+ entries of the last check/);
    await assertKnown(address, apiKey, [...keys, ...client.keys]);

    // The log's own file tells that nothing was lost.
    await reader.run('cp kept.checkpoint later.checkpoint');
    const back = parts(section(guide, 'Back')).find(({ text }) => text.includes('on SQLite\n'));
    assert.equal(await reader.follow(back ?? guide, { done }), 1);
    assert.match(outputs[5] ?? '', /Imported and compared/);
    await generate(address, apiKey, keys);
    await assertKnown(address, apiKey, [...client.keys, ...keys]);
    const check = `/opt/phm/bin/phm log check ${address}/log --state later.checkpoint`;
    assert.match(await reader.run(check), /It contains the \d+ entries of the last check/);
    assert.match(await reader.run('/opt/phm/bin/phm log check'), /No problems found/);
    assert.doesNotMatch(readFileSync(join(folder, 'phm.log'), 'utf8'), /has stopped/);
  });
});

describe('the guide to an upgrade, on PostgreSQL', {
  skip: noPostgres || (!pgBin && 'PostgreSQL 15 or newer of Debian is not installed here'),
}, () => {
  const folder = makeDataDir();
  const names = ['a', 'b'];
  let postgres: Postgres;
  let balancer: Balancer;
  let reader: Reader;
  let apiKey: string;

  /** Runs what the guide has for one server at each of them, and waits for the load balancer. */
  const onEach = async (page: Page, programs: RegExp): Promise<void> => {
    for (const name of names) {
      await reader.run(`export SERVER=${name}`);
      const block = codeOf(page, programs);
      await reader.run(block);
      while (balancer.readyServers < names.length) await new Promise((go) => setTimeout(go, 100));
    }
  };

  before(async () => {
    makeMachine(folder, 'postgres');
    // A server of its own, with the programs that the guide runs.
    postgres = await Postgres.start(pgBin ?? '');
    const url = await postgres.createLedger('upgraded');
    const ports = [await freePort(), await freePort()];
    for (const [i, name] of names.entries()) {
      writeFileSync(join(folder, `${name}.port`), String(ports[i]));
    }
    const env = {
      PHM_DATA_DIR: join(folder, 'data'),
      PHM_DATABASE_URL: url,
      PHM_MASTER_KEY: '5a'.repeat(32),
      PHM_LOG_KEY_FILE: join(folder, 'log-key'),
      PHM_LOG_STATE_FILE: join(folder, 'a.state'),
      PHM_WORKERS: '1',
    };
    reader = new Reader(folder, {
      env: {
        PATH: [join(folder, 'programs'), pgBin, process.env.PATH].join(delimiter),
        UNITS: folder,
        SERVER: 'a',
        PHM_PORT: String(ports[0]),
        PGHOST: '127.0.0.1',
        PGPORT: String(postgres.port),
        PGUSER: 'phm',
        PGPASSWORD: PASSWORD,
        ...env,
      },
      replace: [
        [NEW, join(folder, 'opt/new')],
        ['/opt/phm', join(folder, 'opt/phm')],
        [
          'postgres://phm:<password>@db.example/phm_try?sslmode=verify-full',
          postgres.url('phm_try'),
        ],
        ['--file=before.dump phm', '--file=before.dump upgraded'],
        ['http://127.0.0.1:8080', `http://127.0.0.1:${ports[0]}`],
      ],
    });
    await reader.run('/opt/phm/bin/phm log init --origin keys.example/log');
    apiKey = await makeAccount(join(folder, 'data'), env);
    for (const name of names) await reader.run(`SERVER=${name} systemctl start phm`);
    balancer = await Balancer.start(ports);
  });
  after(async () => {
    for (const name of names) await reader?.run(`SERVER=${name} systemctl stop phm || true`);
    balancer?.close();
    await postgres?.remove();
    removeDataDir(folder);
  });

  it('fails no request, to the new release and back', async () => {
    while (balancer.readyServers < names.length) await new Promise((go) => setTimeout(go, 100));
    const client = new Client(`http://127.0.0.1:${balancer.port}`, apiKey);
    try {
      await prepare();
      await upgrade();
      await goBack();
    } finally {
      await client.stop();
    }
    await assertKnown(`http://127.0.0.1:${balancer.port}`, apiKey, client.keys);
    assert.deepEqual(Object.keys(client.counts), ['200'], JSON.stringify(client.counts));
    assert.deepEqual(balancer.failures, []);
    const log = names.map((name) => readFileSync(join(folder, `${name}.log`), 'utf8')).join('');
    assert.match(log, /a newer release has brought the schema to version 9000/);
  });

  /** Follows a page and returns what each block of commands prints. */
  const follow = async (page: Page, blocks: number): Promise<string[]> => {
    const outputs: string[] = [];
    const done = async (_code: string, output: string): Promise<void> => {
      outputs.push(output);
    };
    assert.equal(await reader.follow(page, { done }), blocks);
    return outputs;
  };

  const prepare = async (): Promise<void> => {
    const [before, , copy] = parts(section(guide, 'Prepare'));
    assert.ok(before && copy);
    const { path, text } = withoutInstalling(before);
    const doctor = text.replace('bin/phm doctor', 'bin/phm doctor || test $? = 1');
    const [checked = ''] = await follow({ path, text: doctor }, 2);
    assert.match(checked, /^failed +schema .*9000[\s\S]* 1 failed/m);
    const [tried = ''] = await follow(copy, 1);
    assert.match(tried, /Migrated the schema from version \d+ to 9000[\s\S]*No problems/);
    await reader.run('dropdb phm_try');
  };

  const upgrade = async (): Promise<void> => {
    const several = section(guide, 'Several servers on PostgreSQL');
    assert.match(await reader.run(codeOf(several, /bin\/phm migrate/)), /to 9000/);
    await onEach(several, /systemctl restart/);
    await reader.run('export SERVER=a');
    const [doctor = '', checked = ''] = await follow(section(guide, 'Check after'), 2);
    assert.match(doctor, /^ok +schema +version 9000[\s\S]* 0 failed/m);
    assert.match(checked, /It contains the \d+ entries of the last check/);
  };

  const goBack = async (): Promise<void> => {
    const text = '```sh\nln -sfn /opt/phm-old /opt/phm\nsystemctl restart phm\n```';
    reader.learn(['/opt/phm-old', join(folder, 'opt/old')]);
    await onEach({ path: guide.path, text }, /restart/);
    await reader.run('/opt/phm/bin/phm log check --state before.checkpoint');
  };
});

/** The commands of the first block of a page that has these words. */
function codeOf(page: Page, words: RegExp): string {
  const blocks = [...page.text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  const found = blocks.find((code) => words.test(code));
  assert.ok(found, `${page.path} has no block with ${words}`);
  return found;
}
