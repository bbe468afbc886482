/** The short guides of docs/guides/, followed on a real server as a reader would. test/campaigns/guides.test.ts follows the others. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DEMO_KEY, makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';
import { Reader, readGuide } from '../../support/texts/guides.ts';
import type { CodeBlock } from '../../support/texts/markdown.ts';

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

  /** Makes the folder of another reader. */
  function mkFolder(name: string): string {
    mkdirSync(join(folder, name));
    return join(folder, name);
  }

  it('encrypt a file with a key', async () => {
    assert.equal(await reader.follow(readGuide('encrypt-a-file')), 5);
    const made = (name: string) => join(reader.folder, name);
    assert.equal(existsSync(made('changed.txt')), false);
    for (const name of ['data.jwk', 'report.enc', 'copy.txt']) {
      assert.equal(statSync(made(name)).mode & 0o777, 0o600, name);
    }
  });

  it('encrypt files with a key per file', async () => {
    const own = new Reader(mkFolder('per-file'), {
      env: { PHM_URL: server.address },
      replace: [
        ['<api_key>', DEMO_KEY],
        ['http://127.0.0.1:8080', server.address],
      ],
    });
    const page = readGuide('encrypt-files-with-a-key-per-file');
    const programs: string[] = [];
    const other = async ({ code }: CodeBlock) => void programs.push(code);
    assert.equal(await own.follow(page, { other }), 8);
    // Its functions run in test/sdk/files.test.ts.
    assert.equal(programs.length, 1);
    const left = readdirSync(own.folder);
    assert.ok(!left.includes('no.txt') && !left.some((name) => name.endsWith('.part')));
    for (const name of ['figures.txt.phm', 'copy.txt']) {
      assert.equal(statSync(join(own.folder, name)).mode & 0o777, 0o600, name);
    }
  });

  it('revoke a key', async () => {
    const other = new Reader(mkFolder('other'), {
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
