/** `phm log`, `phm receipt` and `phm audit` beside running servers, and `phm log copy`, on both stores. 60 s. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { LogSite } from '../../support/ledgers/log-site.ts';
import { noPostgres } from '../../support/ledgers/postgres.ts';
import { type CommandResult, runPhm, type Server } from '../../support/servers/server.ts';

/** Checks while the log grows. */
const CHECKS = 3;

/** Enough for full tiles. More are generated while the checks last. */
const KEYS = 600;

/** Concurrent clients. */
const CLIENTS = 8;

function stories(kind: 'sqlite' | 'postgres'): void {
  let site: LogSite;
  let server: Server;
  before(async () => {
    site = kind === 'sqlite' ? LogSite.sqlite() : await LogSite.postgres();
    server = await site.start();
  });
  after(async () => {
    await server.stop();
    await site.remove();
  });

  /** Runs a client command, with a home directory of its own. */
  const phm = (...args: string[]): Promise<CommandResult> =>
    runPhm(args, site.folder, {
      PHM_URL: server.address,
      PHM_API_KEY: site.apiKey,
      HOME: site.folder,
    });

  /** Generates `KEYS` keys, and more until `isDone` returns true. */
  async function generateKeys(isDone: () => boolean): Promise<void> {
    let begun = 0;
    const client = async (): Promise<void> => {
      while (begun++ < KEYS || !isDone()) {
        await server.generate({ security_level: 256 }, site.apiKey);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  it('follow a log that grows, from outside and beside the database', async () => {
    const copy = join(site.folder, 'copy');
    let checks = 0;
    const load = generateKeys(() => checks === CHECKS);
    try {
      for (; checks < CHECKS; checks++) {
        const outside = await phm('log', 'check', server.address, '--copy', copy);
        assert.equal(outside.code, 0, outside.stderr);
        await site.run('log', 'check');
      }
    } finally {
      checks = CHECKS;
      await load;
    }
    const inCopy = await phm('log', 'check', copy);
    assert.equal(inCopy.code, 0, inCopy.stderr);
  });

  it('keep a receipt that verifies offline', async () => {
    const [key, receipt, policy] = ['key', 'receipt', 'policy'].map((name) =>
      join(site.folder, `${kind}.${name}`),
    ) as [string, string, string];
    const made = await phm('generate', '--output', key, '--receipt', receipt);
    assert.equal(made.code, 0, made.stderr);
    writeFileSync(policy, await site.run('log', 'show', '--policy'));
    const offline = { PHM_URL: 'http://127.0.0.1:1' };
    const options = ['--key-file', key, '--policy', policy];
    const verified = await runPhm(['receipt', 'verify', receipt, ...options], site.folder, offline);
    assert.deepEqual([verified.code, verified.stderr], [0, ''], verified.stdout);
    const { key_id: keyId } = JSON.parse(readFileSync(receipt, 'utf8'));
    const got = await phm('receipt', 'get', keyId);
    assert.equal(got.code, 0, got.stderr);
  });

  it('record administrative actions, which the running server logs', async () => {
    await site.run('account', 'create', '--name', 'B', '--plan', 'research');
    for (let attempt = 0; ; attempt++) {
      const { verified, waiting, findings } = JSON.parse(
        await site.run('audit', 'verify', '--json'),
      );
      assert.deepEqual(findings, []);
      if (waiting === 0) {
        assert.ok(verified >= 2);
        break;
      }
      // A server looks every two seconds for entries of other processes.
      assert.ok(attempt < 40, 'the record has its entry within seconds');
    }
    const lines = (await site.run('audit', 'export')).trimEnd().split('\n');
    assert.ok(
      lines.every((line) => JSON.parse(line).proof !== null || JSON.parse(line).index === null),
    );
  });

  it('rotate beside a running server, which continues with the new keys', async () => {
    const text = await site.run('log', 'init', '--print', '--origin', 'keys.example/log2');
    const keys = kind === 'postgres' ? { PHM_LOG_KEY: text, PHM_LOG_KEY_FILE: '' } : {};
    const rotated = await site.phm(
      ['log', 'init', '--rotate', '--origin', 'keys.example/log2'],
      0,
      keys,
    );
    assert.equal(rotated.code, 0, rotated.stderr);
    // Keys are generated all the same.
    const { status } = await server.generate({ security_level: 256 }, site.apiKey);
    assert.equal(status, 200);
    await server.stop();
    server = await site.start(0, keys);
    const answer = await server.generate(
      { security_level: 256, include: ['receipt'] },
      site.apiKey,
    );
    assert.equal(answer.body.receipt.statement.service, 'keys.example/log2');
    const { code, stdout, stderr } = await site.phm(['log', 'check', '--json'], 0, keys);
    assert.equal(code, 0, stdout + stderr);
    const { logs } = JSON.parse(stdout);
    assert.deepEqual(
      logs.map(({ open }: { open: boolean }) => open),
      [false, true],
    );
    const outside = await phm('log', 'check', server.address);
    assert.equal(outside.code, 0, outside.stderr);
    // The server moves entries that it finds in the closed log.
    for (let attempt = 0, pending = 1; pending > 0; attempt++) {
      ({ pending } = JSON.parse((await site.phm(['log', 'check', '--json'], 0, keys)).stdout));
      assert.ok(attempt < 40, 'no entry waits for the closed log for long');
    }
  });
}

describe('the commands of the log on SQLite', () => stories('sqlite'));
describe('the commands of the log on PostgreSQL', { skip: noPostgres }, () => stories('postgres'));

/** The tests run in order, on the database of a stopped server. */
function copies(kind: 'sqlite' | 'postgres'): void {
  let site: LogSite;
  let folder: string;
  before(async () => {
    site = kind === 'sqlite' ? LogSite.sqlite() : await LogSite.postgres();
    folder = join(site.folder, 'copy');
    await addKeys();
  });
  after(() => site.remove());

  async function addKeys(): Promise<void> {
    const server = await site.start();
    for (let i = 0; i < 3; i++) {
      const order = { security_level: 256, include: ['receipt'] };
      assert.ok((await server.generate(order, site.apiKey)).body.receipt);
    }
    await server.stop();
  }

  /** Copies the log and checks the copy. Returns its size. */
  async function copied(): Promise<number> {
    const { origin, size, ...rest } = JSON.parse(await site.run('log', 'copy', folder, '--json'));
    assert.deepEqual(rest, { folder });
    const [name, entries] = readFileSync(join(folder, 'checkpoint'), 'utf8').split('\n');
    assert.deepEqual([origin, size], [name, Number(entries)]);
    // A monitor remembers logs below the home directory.
    const checked = await site.phm(['log', 'check', folder], 0, { HOME: site.folder });
    assert.equal(checked.code, 0, checked.stderr);
    return size;
  }

  it('copies the log of a stopped server', async () => {
    const { code, stderr } = await site.phm(['log', 'copy', folder]);
    assert.equal(code, 0, stderr);
    const size = await copied();
    assert.ok(size >= 3);
    assert.match(
      stderr,
      new RegExp(`^Copied ${size} entries of the log \\S+ to ${folder}\\.$`, 'm'),
    );
  });

  it('continues an earlier copy', async () => {
    const before = await copied();
    await addKeys();
    assert.ok((await copied()) >= before + 3);
  });
}

describe('phm log copy on SQLite', () => copies('sqlite'));
describe('phm log copy on PostgreSQL', { skip: noPostgres }, () => copies('postgres'));
