/**
 * A lost, an old and a foreign state file, and a restored backup: the log stops instead of forking, keys are generated
 * all the same, and it continues once the operator has done what docs/receipts.md says.
 */
import assert from 'node:assert/strict';
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { LogSite } from '../support/ledgers/log-site.ts';
import { LogWatch } from '../support/ledgers/log-watch.ts';
import { noPostgres } from '../support/ledgers/postgres.ts';
import type { Server } from '../support/servers/server.ts';

const HOUR_MS = 3_600_000;

/** Keys between two events. */
const KEYS = 6;

/** Time in which a log that must not run would have published a head. */
const QUIET_MS = 3_000;

class Story {
  readonly site: LogSite;
  readonly watch: LogWatch = new LogWatch();
  server: Server | null = null;
  /** IDs of keys whose rows a restore lost. */
  readonly lost: Set<string> = new Set();

  constructor(site: LogSite) {
    this.site = site;
  }

  async start(): Promise<Server> {
    this.server = await this.site.start();
    return this.server;
  }

  async stop(): Promise<void> {
    await this.server?.stop();
    this.server = null;
    this.watch.seeFile(this.site.stateFile());
  }

  /** Generates keys with receipts. */
  async generate(count = KEYS): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.watch.generate(this.server as Server, this.site.apiKey, true);
    }
  }

  /** Runs the server, lets it record keys, and stops it. */
  async serveKeys(): Promise<void> {
    const server = await this.start();
    await this.watch.pin(server);
    await this.generate();
    await this.stop();
  }

  /** Starts a server whose log must have stopped, although keys are generated. */
  async startStopped(reason: RegExp): Promise<void> {
    const server = await this.start();
    const asked = this.watch.kept.length;
    await this.generate(2);
    const answered = this.watch.kept.slice(asked);
    assert.equal(answered.length, 2, 'keys are generated');
    assert.deepEqual(
      answered.map(({ receipt }) => receipt),
      [null, null],
      'without a receipt',
    );
    await server.logged('the transparency log has stopped');
    await delay(QUIET_MS);
    const { status, body } = await server.request('/log/checkpoint');
    assert.deepEqual([status, body.code], [503, 'log_stopped']);
    assert.match(server.log, reason);
    assert.equal((await server.request('/readyz')).status, 200, 'the server stays ready');
  }

  /** Starts a server whose log runs, and checks everything ever published. */
  async continues(test: TestContext): Promise<void> {
    const server = await this.start();
    await this.generate();
    const { checkpoints, keys, size } = await this.watch.audit(server, this.site.apiKey, this.lost);
    await this.stop();
    test.diagnostic(`${this.site.kind}: ${checkpoints} checkpoints, ${keys} keys, ${size} entries`);
  }
}

function stories(kind: 'sqlite' | 'postgres'): void {
  let story: Story;
  before(async () => {
    story = new Story(kind === 'sqlite' ? LogSite.sqlite() : await LogSite.postgres());
    await story.serveKeys();
  });
  afterEach(() => story.server?.stop('SIGKILL'));
  after(() => story.site.remove());

  it('stops without its state file, and continues after phm log recover --accept', async (test) => {
    const { site } = story;
    // In its first ten minutes a log lets servers join without a state file.
    await site.execute(`UPDATE logs SET started_ms = started_ms - ${HOUR_MS}`);
    renameSync(site.stateFile(), `${site.stateFile()}.lost`);
    await story.startStopped(/state file .* is missing/);
    await story.stop();
    await site.run('log', 'recover', '--accept');
    await story.continues(test);
  });

  it('continues with an old state file of the same log', async (test) => {
    const { site } = story;
    copyFileSync(site.stateFile(), `${site.stateFile()}.old`);
    await story.serveKeys();
    copyFileSync(`${site.stateFile()}.old`, site.stateFile());
    await story.continues(test);
  });

  it('stops with a foreign state file, and continues with its own', async (test) => {
    const { site } = story;
    const other = new Story(LogSite.sqlite());
    try {
      await other.serveKeys();
      renameSync(site.stateFile(), `${site.stateFile()}.own`);
      copyFileSync(other.site.stateFile(), site.stateFile());
    } finally {
      await other.site.remove();
    }
    await story.startStopped(/state file/);
    // The foreign checkpoint is not one of this log.
    await story.server?.stop();
    renameSync(`${site.stateFile()}.own`, site.stateFile());
    await story.continues(test);
  });

  it('stops on a restored backup, and continues with the entries of a copy', async (test) => {
    const { site, watch } = story;
    await site.backUp();
    const known = watch.kept.length;
    await story.serveKeys();
    for (const { keyId } of watch.kept.slice(known)) story.lost.add(keyId);
    const copy = join(site.folder, 'copy');
    const server = await story.start();
    const state = join(site.folder, 'monitor');
    await site.run('log', 'check', `${server.address}/log`, '--copy', copy, '--state', state);
    await story.stop();
    await site.restore();
    const { code, stdout, stderr } = await site.phm(['log', 'check']);
    assert.equal(code, 1, stdout + stderr);
    assert.match(stdout + stderr, /a known checkpoint does not fit the database/);
    await story.startStopped(/restored|lost writes/);
    await story.stop();
    const refused = await site.phm(['log', 'recover', '--accept']);
    assert.equal(refused.code, 1, 'a database behind the state file is not accepted');
    await site.run('log', 'recover', '--from', copy);
    await story.continues(test);
  });

  it('continues as a new log after a restore without a copy', async (test) => {
    const { site, watch: old } = story;
    await site.backUp();
    const known = old.kept.length;
    await story.serveKeys();
    await site.restore();
    await site.run('log', 'init', '--rotate', '--origin', 'rotated.example/log');
    const next = new Story(site);
    const server = await next.start();
    await next.watch.pin(server);
    await next.generate();
    const figures = await next.watch.audit(server, site.apiKey);
    await next.stop();
    // An earlier test aged the closed log, which the check would name.
    await site.execute(
      `UPDATE logs SET started_ms = started_ms + ${HOUR_MS} WHERE closed_ms IS NOT NULL`,
    );
    await site.run('log', 'check');
    const lost = old.kept.length - known;
    test.diagnostic(
      `${site.kind}: ${lost} keys lost their row, ${figures.size} entries in the new log`,
    );
  });
}

// The stores are apart from each other, and much of the time is waiting.
describe('the log', { concurrency: true }, () => {
  describe('in SQLite', { concurrency: 1 }, () => stories('sqlite'));
  describe('in PostgreSQL', { concurrency: 1, skip: noPostgres }, () => stories('postgres'));
});
