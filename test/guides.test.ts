/** The short guides of docs/guides/, followed on a real server as a reader would. The others are in slow/. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Reader, readGuide } from './support/guides.ts';
import { DEMO_KEY, makeDataDir, removeDataDir, Server } from './support/server.ts';

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

  it('read a report', { skip: noOpenssl }, async () => {
    assert.equal(await reader.follow(readGuide('read-a-report')), 3);
  });

  it('are found out when a command, a file or an output is wrong', async () => {
    const page = (text: string) => ({ path: 'a guide', text });
    const faults: readonly (readonly [string, RegExp])[] = [
      ['```sh\nfalse\ntrue\n```\n', /exited with 1/],
      ['```sh\necho a\n```\n\n```text\nb\n```\n', /other output/],
      ['```sh\necho a; echo b\n```\n\n```text\na\n```\n', /other output/],
      ['Save this as `a.sh`:\n\n```bash\nexit 3\n```\n\n```sh\nsh a.sh\n```\n', /exited with 3/],
    ];
    for (const [text, message] of faults) {
      await assert.rejects(reader.follow(page(text)), { message });
    }
    const right = [
      '```sh\nexport A=b\n```\n',
      '   ```sh\n   echo "$A" phm_12; echo; echo c\n   ```\n\n   ```text\n   b phm_345\n   …\n   c\n   ```\n',
    ];
    assert.equal(await reader.follow(page(right.join('\n'))), 2);
  });
});
