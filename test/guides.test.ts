/** The reader that follows the guides of docs/guides/ (test/slow/deploy/short-guides.test.ts, test/campaigns/guides.test.ts): it notices each way in which a guide can be wrong. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { makeDataDir, removeDataDir } from './support/servers/server.ts';
import { Reader } from './support/texts/guides.ts';

describe('guides', () => {
  const folder = makeDataDir();
  after(() => removeDataDir(folder));

  it('are found out when a command, a file or an output is wrong', async () => {
    const reader = new Reader(folder);
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
