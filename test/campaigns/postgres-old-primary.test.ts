/**
 * An old primary that was not fenced, and a server that restarts while it reaches that one alone. 20 s; needs
 * pg_basebackup.
 */
import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DATABASE, noPair, Pair, promote } from '../support/ledgers/postgres-pair.ts';
import { until } from '../support/run/until.ts';
import { Server } from '../support/servers/server.ts';

const MOVED = 'the ledger uses another database server';
const REFUSED =
  /writes timeline 1, and timeline 2 was seen.*remove \S*state-0\.timeline and restart/;

describe('a server that restarts while only the old primary answers', { skip: noPair }, () => {
  let pair: Pair;
  /** Resolves once the server is ready. */
  let starting: Promise<Server>;

  before(async () => {
    pair = await Pair.start();
    const end = pair.load();
    await pair.untilAnswered();
    await promote(pair.second);
    await until('both servers move', () => pair.servers.every(({ log }) => log.includes(MOVED)));
    await end();
    await pair.second.stop('INT');
    await pair.servers[0]?.stop('SIGKILL');
  });
  after(() => pair?.remove());

  const rowsOfFirst = async () => (await pair.first.query(DATABASE, 'SELECT FROM ledger')).length;

  it('waits, and names the file that remembers the promotion', async () => {
    const before = await rowsOfFirst();
    const log = join(pair.folder, 'log');
    const descriptor = openSync(log, 'w');
    starting = Server.start(join(pair.folder, 'data-0'), pair.env(0), descriptor);
    closeSync(descriptor);
    await until('it waits', () => REFUSED.test(readFileSync(log, 'utf8')));
    assert.equal(await rowsOfFirst(), before);
  });

  it('has the same answer for commands', async () => {
    for (const args of [['account', 'list'], ['log', 'recover', '--accept'], ['export']]) {
      const { code, stderr } = await pair.phm(...args);
      assert.equal(code, 1, args.join(' '));
      assert.match(stderr, REFUSED, args.join(' '));
    }
  });

  it('starts by itself on the new primary', async () => {
    await pair.second.restart();
    pair.servers[0] = await starting;
    await until('keys', async () => (await pair.generate(0)).status === 200);
  });

  it('uses the old one once an operator has removed the file', async () => {
    await pair.second.stop('INT');
    await pair.servers[0]?.stop();
    rmSync(`${pair.stateFile(0)}.timeline`);
    await pair.launch(0);
    await until('keys', async () => (await pair.generate(0)).status === 200);
  });
});
