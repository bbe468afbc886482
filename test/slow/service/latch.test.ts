/**
 * A key worker that is defective when its server starts or stops. It repeats on a whole program what
 * `test/keys/plain-generator.test.ts` shows for the generator and `test/serve/latch-log.test.ts` for the log.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { brokenOutput } from '../../support/faults/broken-output.ts';
import { until } from '../../support/run/until.ts';
import { makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

const WITH_EVIDENCE = {
  security_level: 256,
  enable_nist_validation: true,
  modulation_type: 'none',
};
/** The log lines of every latch, in any order. */
const LOGGED = ['"key generation has stopped"', '"plain keys released since'];

describe('a server whose key worker is defective at startup', () => {
  it('starts, generates no key in any thread, and reports it', async (t) => {
    const dataDir = makeDataDir();
    const file = join(dataDir, 'broken');
    writeFileSync(file, '');
    const server = await Server.start(dataDir, brokenOutput('phm-keys', file));
    t.after(async () => {
      await server.stop();
      removeDataDir(dataDir);
    });
    const { status, body } = await server.request('/readyz');
    assert.deepEqual([status, body.latch.cause], [503, 'gate']);
    for (const order of [{ security_level: 128 }, WITH_EVIDENCE]) {
      const answer = await server.generate(order);
      assert.deepEqual([answer.status, answer.body.code], [503, 'entropy_unavailable']);
    }
    assert.equal((await server.request('/livez')).status, 200);
    await server.logged(...LOGGED);
    assert.match(server.log, /two samples of the generator of plain keys in a row failed/);
    // A line for each of the two samples, which may come after the others.
    const failed = () =>
      server.log.match(/"judged":"samples of the generator of plain keys"/g) ?? [];
    await until('both failures are logged', () => failed().length >= 2);
    assert.equal(failed().length, 2);
    assert.match(server.log, /"part":1,"parts":1,"lastGoodAt":null,"keyIds":\[\]/);
  });
});

describe('a server that proves defective at shutdown', () => {
  for (const [thread, path, isUnheard] of [
    ['phm-keys', '/api/v2/generate', false],
    ['phm-keys', '/api/v2/generate', true],
    ['phm-suite', '/api/v2/generate/batch', true],
  ] as const) {
    const late = isUnheard ? ', even if no thread hears of the latch before its end' : '';
    it(`logs the keys of ${thread} since the last good sample${late}`, async (t) => {
      const dataDir = makeDataDir();
      t.after(() => removeDataDir(dataDir));
      const file = join(dataDir, 'broken');
      const server = await Server.start(dataDir, brokenOutput(thread, file, isUnheard));
      const count = thread === 'phm-suite' ? { count: 1 } : {};
      const { body } = await server.post(path, { security_level: 256, ...count });
      const keyId = body.key_id ?? body.keys[0].key_id;
      writeFileSync(file, '');
      assert.equal(await server.stop(), 0);
      const lines = (text: string) => server.log.split('\n').filter((line) => line.includes(text));
      assert.equal(lines('"key generation has stopped"').length, 1);
      assert.equal(lines(`"keyIds":["${keyId}"]`).length, 1, server.log);
    });
  }
});
