/** `phm receipt get`: by the ID with an API key, and by a sealed key without one. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { RECEIPTED_KEY } from '../../src/http/openapi/receipt-example.ts';
import { SEALED_KEY } from '../../src/http/openapi/sealed-example.ts';
import { answers, ScriptedServer, type Step } from '../support/clients/scripted-server.ts';
import { runCommand } from '../support/servers/run-command.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'receipt-get-'));
after(() => rmSync(FOLDER, { recursive: true, force: true }));

function put(name: string, content: unknown): string {
  writeFileSync(join(FOLDER, name), JSON.stringify(content));
  return join(FOLDER, name);
}

const API_KEY = 'phmsk_demo_ResearchDemoKeyNotSecret0001_1GUpEG';
const { receipt } = SEALED_KEY;
const ANSWER = answers({ receipt, timestamp: SEALED_KEY.timestamp });

/** Runs the command against a server that answers so. Returns its requests, too. */
async function get(step: Step, args: readonly string[]) {
  const server = await ScriptedServer.start(step);
  const env = { PHM_URL: server.address, PHM_API_KEY: API_KEY };
  const result = await runCommand(['receipt', 'get', ...args], env);
  await server.stop();
  return { ...result, received: server.received };
}

describe('phm receipt get', () => {
  it('asks by the header of a sealed key, without the API key', async () => {
    const { key_id, key_commitment } = receipt?.statement ?? assert.fail();
    const given = [
      [put('answer', { ...SEALED_KEY, receipt: null }), []],
      [put('alone', SEALED_KEY.sealed_key), [key_id]],
      [put('batch', { keys: [SEALED_KEY] }), []],
    ] as const;
    for (const [file, more] of given) {
      const { code, stdout, stderr, received } = await get(ANSWER, ['--sealed', file, ...more]);
      assert.deepEqual([code, stderr], [0, ''], file);
      assert.deepEqual(JSON.parse(stdout), receipt);
      const [{ method, url, headers, body } = assert.fail()] = received;
      assert.deepEqual([method, url], ['POST', '/api/v2/receipts']);
      assert.deepEqual(JSON.parse(body), { key_id, key_commitment });
      assert.equal(headers['x-api-key'], undefined);
    }
    const output = join(FOLDER, 'receipt');
    const written = await get(ANSWER, ['--sealed', put('one', SEALED_KEY), '--output', output]);
    assert.equal(written.stderr, `Wrote the receipt of ${key_id} to ${output}\n`);
    assert.deepEqual(JSON.parse(readFileSync(output, 'utf8')), receipt);
  });

  it('asks by the key ID with the API key', async () => {
    const { key_id: keyId, receipt: own, timestamp } = RECEIPTED_KEY;
    const { code, stdout, received } = await get(answers({ receipt: own, timestamp }), [keyId]);
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(stdout), own);
    assert.equal(received[0]?.url, `/api/v2/keys/${keyId}/receipt`);
    assert.equal(received[0]?.headers['x-api-key'], API_KEY);
  });

  it('takes no receipt of another key', async () => {
    const { receipt: own, timestamp } = RECEIPTED_KEY;
    const other = answers({ receipt: own, timestamp });
    const { code, stdout, stderr } = await get(other, ['--sealed', put('one', SEALED_KEY)]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /\/receipt is of another key/);
  });

  it('sends nothing for a wrong file or without a key', async () => {
    const { sealed_key: sealed } = SEALED_KEY;
    const broken = put('broken', { ...sealed, header: 'e30' });
    const two = put('two', { keys: [SEALED_KEY, SEALED_KEY] });
    for (const [args, expected, words] of [
      [[], 2, /^phm: give KEY_ID or --sealed FILE\n/],
      [['phm_x'], 2, /KEY_ID is phm_ and a number/],
      [['--sealed', two], 2, /^phm: the file has 2 keys: give KEY_ID of one of them, too\n/],
      [['phm_1', '--sealed', put('one', SEALED_KEY)], 2, /^phm: the file has no key phm_1\n/],
      [['--sealed', broken], 1, /broken has no sealed key that can be read: /],
      [['--sealed', put('none', {})], 1, /none has no sealed key: /],
      [['--sealed', join(FOLDER, 'missing')], 2, /there is no such file/],
    ] as const) {
      const { code, stdout, stderr, received } = await get(ANSWER, args);
      assert.deepEqual([code, stdout, received.length], [expected, '', 0], stderr);
      assert.match(stderr, words);
    }
  });
});
