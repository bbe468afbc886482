/** While the suite is slow to judge the generator of plain keys, they wait, and nothing else does. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeDataDir, removeDataDir, Server } from '../support/server.ts';
import { slowSuite } from '../support/slow-suite.ts';

const PLAIN = { security_level: 256 };

describe('a server whose suite is slow', () => {
  const dataDir = makeDataDir();
  const file = join(dataDir, 'slow');
  let server: Server;
  before(async () => {
    server = await Server.start(dataDir, { ...slowSuite(file) });
  });
  after(async () => {
    await server?.stop();
    removeDataDir(dataDir);
  });

  it('holds up plain keys until the verdict comes, but no other request', async () => {
    const { body } = await server.generate(PLAIN);
    writeFileSync(file, '');
    // A sample is drawn before it, and it uses up what may follow that.
    assert.equal((await server.generate(PLAIN)).status, 200);
    let answered = 0;
    const held = Array.from({ length: 3 }, async () => {
      const answer = await server.generate(PLAIN);
      answered += 1;
      return answer;
    });
    for (let i = 0; i < 3; i++) {
      assert.equal((await server.validate({ key: body.key })).body.valid, true);
      assert.equal((await server.metrics()).status, 200);
    }
    assert.equal(answered, 0);
    rmSync(file);
    for (const { status } of await Promise.all(held)) assert.equal(status, 200);
  });
});
