/**
 * The whole way of a key: a key service, two agents as programs of their own, one of them packed and on Node 20 if there is
 * one, and two systems that speak ETSI GS QKD 014. Keys are equal at both ends, no system gets one twice across kills of the
 * agents, and none is written anywhere. 45 s.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type AgentSite, idsOf, type Key } from '../support/agents/agent-site.ts';
import { AgentSites } from '../support/agents/agent-sites.ts';
import { filesBelow } from '../support/ledgers/stored.ts';
import { findNode20 } from '../support/programs/node-20.ts';
import { packWorkspace } from '../support/programs/packed.ts';
import { until } from '../support/run/until.ts';
import { runCommand } from '../support/servers/run-command.ts';

describe('two agents on a key service', () => {
  const sites = new AgentSites();
  const { paris, lyon, folder } = sites;
  /** All keys that systems got. */
  const keys = new Map<string, string>();

  before(async () => {
    await packWorkspace('packages/agent', folder);
    const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    execFileSync('tar', ['-xzf', join(folder, tarball), '-C', folder]);
    lyon.program = [findNode20() ?? process.execPath, join(folder, 'package/dist/phm-agent.js')];
    await sites.start();
  });
  after(() => sites.stop());

  async function exchange(
    master: AgentSite,
    slave: AgentSite,
    number: number,
  ): Promise<readonly Key[]> {
    const taken = await master.keys(slave, 'enc_keys', { number });
    assert.equal(taken.length, number);
    for (const { key_ID, key } of taken) {
      assert.ok(!keys.has(key_ID), `${key_ID} went out twice`);
      keys.set(key_ID, key);
    }
    assert.deepEqual(await slave.keys(master, 'dec_keys', idsOf(taken)), taken);
    return taken;
  }

  it('give equal keys to both ends, in both directions', async () => {
    await exchange(paris, lyon, 5);
    await exchange(lyon, paris, 20);
    await paris.filled(lyon, 8);
    const many = await exchange(paris, lyon, 128);
    assert.equal(new Set(many.map(({ key }) => key)).size, 128);
  });

  it('hand out no key twice across kills, and use what is in the box', async () => {
    for (let i = 0; i < 3; i += 1) {
      const taken = await exchange(paris, lyon, 3);
      await Promise.all([paris, lyon].map((site) => site.end('SIGKILL')));
      await Promise.all([paris.start(), lyon.start()]);
      const again = await lyon.call(paris, 'dec_keys', idsOf(taken));
      assert.deepEqual([again.status, again.keys], [400, []]);
      await exchange(paris, lyon, 40);
      await exchange(lyon, paris, 12);
    }
  });

  it('go on while the service is away, for as long as the pool lasts', async () => {
    // Each has filled its pool, and opened ahead what the other has had made.
    await until('both sites hold the same keys', async () => {
      const held = await Promise.all([paris, lyon].map((site) => site.figure('keys_held')));
      const [ours, theirs] = [await paris.ready(lyon), await lyon.ready(paris)];
      return ours >= 8 && theirs >= 8 && held.every((count) => count === ours + theirs);
    });
    await sites.service.server.stop();
    await exchange(paris, lyon, 6);
    await exchange(lyon, paris, 6);
    let { status } = await paris.call(lyon, 'enc_keys', { number: 64 });
    while (status === 200) ({ status } = await paris.call(lyon, 'enc_keys', { number: 64 }));
    assert.equal(status, 503);
    await sites.service.start();
    await paris.filled(lyon, 8);
    await exchange(paris, lyon, 6);
  });

  it('empty their boxes of what both have read, and write no key', async () => {
    const apiKey = readFileSync(join(paris.folder, 'api-key-0'), 'utf8');
    const env = { PHM_URL: sites.service.server.address, PHM_API_KEY: apiKey };
    await until('the boxes hold what is ready alone', async () => {
      const args = ['deliveries', 'list', '--recipient', 'paris', '--state', 'received', '--json'];
      const { stdout } = await runCommand(args, env);
      const lines = stdout.split('\n').filter((line) => line !== '');
      return !lines.some((line) => keys.has(JSON.parse(line).delivery_id));
    });
    // Nothing moves files while they are read.
    await sites.service.server.stop('SIGKILL');
    const states = [paris, lyon].map((site) => join(site.folder, 'state'));
    const folders = [...states, sites.service.site.folder];
    const files = folders.flatMap(filesBelow);
    assert.ok(files.length > 3, `${files.length}`);
    const written = [...files, Buffer.from(paris.log + lyon.log)];
    for (const key of keys.values()) {
      const bytes = Buffer.from(key, 'base64');
      for (const form of [bytes, Buffer.from(bytes.toString('hex')), Buffer.from(key)]) {
        assert.ok(!written.some((content) => content.includes(form)));
      }
    }
  });
});
