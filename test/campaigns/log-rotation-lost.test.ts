/**
 * A rotation after PostgreSQL lost published entries, with two servers: the other server goes on if its state file shows
 * no more than the rotation confirmed as the end of the closed log, and otherwise says which entries are missing. 20 s.
 */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type LogKeys, parseLogKeys, signCheckpoint } from '../../src/log/index.ts';
import { LogSite } from '../support/ledgers/log-site.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import type { Server } from '../support/servers/server.ts';

const NEXT = 'rotated.example/log';

describe('a rotation after a loss', { skip: noPostgres }, () => {
  let site: LogSite;
  let server: Server | null = null;
  /** Sizes of the log in the backup, and of two state files that are ahead of it. */
  const sizes: number[] = [];
  let oldKeys: LogKeys;

  before(async () => {
    site = await LogSite.postgres(2);
    oldKeys = parseLogKeys(readFileSync(join(site.folder, 'log.key'), 'utf8'));
    for (const name of ['backup', 'older', 'newest']) {
      await serveKeys();
      copyFileSync(site.stateFile(0), kept(name));
      sizes.push(sizeOf(kept(name)));
      if (name === 'backup') await site.backUp();
    }
  });
  afterEach(async () => {
    await server?.stop('SIGKILL');
    server = null;
  });
  after(() => site.remove());

  const kept = (name: string) => `${site.stateFile(0)}.${name}`;
  const sizeOf = (path: string) => Number(readFileSync(path, 'utf8').split('\n')[1]);

  /** Generates keys with receipts on the first server. */
  async function serveKeys(): Promise<void> {
    server = await site.start(0);
    for (let i = 0; i < 3; i++) assert.ok((await generate(server)).receipt);
    await server.stop();
  }

  async function generate(one: Server) {
    const order = { security_level: 256, include: ['receipt'] };
    const { status, body } = await one.generate(order, site.apiKey);
    assert.equal(status, 200);
    return body;
  }

  /** Restores the backup, and rotates on the first server with this state file. */
  async function rotate(name: string): Promise<void> {
    await site.restore();
    copyFileSync(kept(name), site.stateFile(0));
    await site.run('log', 'init', '--rotate');
  }

  /** Starts the second server with this state file. */
  async function startSecond(name: string): Promise<Server> {
    copyFileSync(kept(name), site.stateFile(1));
    server = await site.start(1);
    return server;
  }

  async function runs(one: Server): Promise<void> {
    const { receipt } = await generate(one);
    assert.equal(receipt?.statement.service, NEXT, one.log);
    assert.equal(readFileSync(site.stateFile(1), 'utf8').split('\n')[0], NEXT);
  }

  it('replaces a state file of the checkpoint that the new log follows', async () => {
    await site.restore();
    copyFileSync(kept('newest'), site.stateFile(0));
    await site.run('log', 'init', '--rotate', '--origin', NEXT);
    assert.ok((sizes[0] as number) < (sizes[1] as number), 'the database lost entries');
    await runs(await startSecond('newest'));
  });

  it('replaces an older one, although the database lacks its entries', async () => {
    await runs(await startSecond('older'));
  });

  it('stops with one that shows more entries than the rotation confirmed', async () => {
    await rotate('older');
    const second = await startSecond('newest');
    assert.equal((await generate(second)).receipt, null);
    await second.logged('the transparency log has stopped');
    const [, older, newest] = sizes as [number, number, number];
    const figures = `shows ${newest} entries of the closed log .*, but the log ${NEXT} was started behind its first ${older}`;
    assert.match(second.log, new RegExp(`${figures}.*: .*log recover --accept`));
    assert.doesNotMatch(second.log, /no known key/);
    const doctor = await site.phm(['doctor'], 1);
    assert.match(doctor.stdout, new RegExp(figures));
  });

  it('goes on after phm log recover --accept, which keeps the file', async () => {
    const { code, stderr } = await site.phm(['log', 'recover', '--accept'], 1);
    assert.equal(code, 0, stderr);
    const file = `${site.stateFile(1)}.closed`;
    assert.match(stderr, new RegExp(`kept as ${file}`));
    assert.equal(readFileSync(file, 'utf8'), readFileSync(kept('newest'), 'utf8'));
    server = await site.start(1);
    await runs(server);
  });

  it('stops with another tree than the rotation confirmed', async () => {
    const [, older] = sizes as [number, number];
    const fork = signCheckpoint(oldKeys, { size: older, root: Buffer.alloc(32, 1) }, 1);
    writeFileSync(kept('fork'), fork);
    const second = await startSecond('fork');
    await second.logged('the transparency log has stopped');
    assert.match(second.log, /shows other entries of the closed log .*: .*log recover --accept/);
  });
});
