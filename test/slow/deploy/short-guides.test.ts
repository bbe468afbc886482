/** The short guides of docs/guides/, followed on a real server as a reader would. guides.test.ts follows the others. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Reader, readGuide } from '../../support/guides.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, Server } from '../../support/server.ts';

const noOpenssl = spawnSync('openssl', ['version']).error && 'openssl is not installed here';

describe('the guides', () => {
  const folder = makeDataDir();
  let server: Server;
  let reader: Reader;
  before(async () => {
    server = await Server.start(join(folder, 'data'));
    reader = new Reader(folder, {
      env: { PHM_URL: server.address },
      replace: [['<api_key>', DEMO_KEY]],
    });
  });
  after(async () => {
    await server?.stop('SIGKILL');
    removeDataDir(folder);
  });

  it('encrypt a file with a key', async () => {
    assert.equal(await reader.follow(readGuide('encrypt-a-file')), 5);
    const made = (name: string) => join(reader.folder, name);
    assert.equal(existsSync(made('changed.txt')), false);
    for (const name of ['data.jwk', 'report.enc', 'copy.txt']) {
      assert.equal(statSync(made(name)).mode & 0o777, 0o600, name);
    }
  });

  it('revoke a key', async () => {
    mkdirSync(join(folder, 'other'));
    const other = new Reader(join(folder, 'other'), {
      env: { PHM_URL: server.address },
      replace: [['<api_key>', DEMO_KEY]],
    });
    const runs = await other.follow(readGuide('revoke-a-key'), {
      done: async (_code, output) => {
        const [keyId] = /^phm_\d+/m.exec(output) ?? [];
        if (keyId) other.learn(['<key_id>', keyId]);
      },
    });
    assert.equal(runs, 6);
  });

  it('read a report', { skip: noOpenssl }, async () => {
    assert.equal(await reader.follow(readGuide('read-a-report')), 3);
  });
});
