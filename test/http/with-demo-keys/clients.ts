/** Requests of published and generated clients, and their responses: the rows of docs/clients.md. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { DEMO_KEY } from '../../support/servers/server.ts';
import { server } from '../../support/servers/shared-server.ts';

/** The part of the page that this module tests. */
const PAGE = readFileSync(resolve(import.meta.dirname, '../../../docs/clients.md'), 'utf8')
  .split('\n## ')
  .find((part) => part.startsWith('What other clients send\n'));

const titles: string[] = [];

/** Adds the test of a row; the last cell of the row is its title. */
function row(title: string, test: () => Promise<void>): void {
  titles.push(title);
  it(title, test);
}

/** Returns the verdict on a new key of this server, with additional fields of the request. */
async function verdictWith(more: Record<string, unknown>) {
  const { key } = (await server.generate({ security_level: 256 })).body;
  const { status, body } = await server.validate({ key, ...more });
  assert.equal(status, 200);
  return body;
}

describe('a client', () => {
  row('an empty hash_proof is left out', async () => {
    assert.equal((await verdictWith({ hash_proof: '' })).valid, true);
  });

  row('a null hash_proof is left out', async () => {
    assert.equal((await verdictWith({ hash_proof: null })).valid, true);
  });

  row('null for an optional field is left out', async () => {
    const { status, body } = await server.generate({
      security_level: 128,
      enable_nist_validation: null,
      modulation_type: null,
      entropy_source: null,
      include: null,
    });
    assert.equal(status, 200);
    assert.equal(body.source, 'os');
    assert.ok(!('nist_validation' in body) && !('warnings' in body));
  });

  row('an empty expires_at is an error', async () => {
    const { status, body } = await server.generate({ security_level: 128, expires_at: '' });
    assert.equal(status, 400);
    assert.equal(body.errors[0].pointer, '#/expires_at');
  });

  row('null for a required field is an error', async () => {
    const { status, body } = await server.generate({ security_level: null });
    assert.equal(status, 400);
    assert.equal(body.errors[0].pointer, '#/security_level');
    assert.equal((await server.validate({ key: null })).status, 400);
  });

  row('detail alone says what is wrong', async () => {
    const { status, body } = await server.generate({ security_level: '256' });
    assert.equal(status, 400);
    assert.equal(
      body.detail,
      '"security_level" must be one of 128, 256, 384; got the string "256".',
    );
  });

  row('unknown fields get a key with warnings', async () => {
    const more = { metadata: { device: 'x' }, qasm: 'OPENQASM 3;', qasm_circuit: null };
    const { status, body } = await server.generate({ security_level: 256, ...more });
    assert.equal(status, 200);
    assert.match(body.key, /^[0-9a-f]{64}$/);
    const pointers = body.warnings.map((one: { pointer: string }) => one.pointer);
    assert.deepEqual(pointers, ['#/metadata', '#/qasm', '#/qasm_circuit']);
  });

  const misspelt = { security_level: 256, enable_nist: true };

  row('a misspelt option is named with a guess', async () => {
    const { status, body } = await server.generate(misspelt);
    assert.equal(status, 200);
    assert.ok(!('nist_validation' in body));
    assert.deepEqual(body.warnings, [
      {
        code: 'unknown_field',
        pointer: '#/enable_nist',
        detail:
          '"enable_nist" is not a known field and was ignored; did you mean "enable_nist_validation"?',
      },
    ]);
  });

  row('strict handling rejects a misspelt option', async () => {
    const { status, headers, body } = await server.request('/api/v2/generate', {
      method: 'POST',
      headers: {
        'X-API-Key': DEMO_KEY,
        'Content-Type': 'application/json',
        Prefer: 'handling=strict',
      },
      body: JSON.stringify(misspelt),
    });
    assert.deepEqual([status, body.code], [400, 'invalid_request']);
    assert.equal(headers.get('preference-applied'), 'handling=strict');
    assert.deepEqual(body.errors, [
      {
        pointer: '#/enable_nist',
        message: 'is not a known field; did you mean "enable_nist_validation"?',
      },
    ]);
  });

  /** Posts bytes to generate. */
  const send = (body: Buffer | string, type = 'application/json') =>
    server.request('/api/v2/generate', {
      method: 'POST',
      headers: { 'X-API-Key': DEMO_KEY, 'Content-Type': type },
      body,
    });
  const order = '{"security_level": 256}';

  row('a byte order mark is ignored', async () => {
    assert.equal((await send(`\ufeff${order}`)).status, 200);
  });

  row('a charset of UTF-8 may be named', async () => {
    assert.equal((await send(order, 'application/json; charset="UTF-8"')).status, 200);
  });

  row('another encoding is an error', async () => {
    const bytes = Buffer.from('{"security_level": 256, "note": "\xe9"}', 'latin1');
    assert.equal((await send(bytes)).body.code, 'malformed_json');
    const named = await send(bytes, 'application/json; charset=iso-8859-1');
    assert.equal(named.body.code, 'unsupported_media_type');
    assert.equal((await send(Buffer.from(order, 'utf16le'))).body.code, 'malformed_json');
  });

  row('a missing body is rejected with an example', async () => {
    const { body } = await send('');
    assert.equal(body.code, 'malformed_json');
    const example = /smallest valid body is (.*)\.$/.exec(body.detail)?.[1] ?? '';
    assert.equal((await send(example)).status, 200);
  });

  row('broken JSON is rejected with its position', async () => {
    const { body } = await send("{'security_level': 256}");
    assert.match(body.detail, /At line 1, column 2: expected a name in double quotes\./);
  });

  row('a repeated name is an error', async () => {
    const { status, body } = await send('{"security_level": 128, "security_level": 256}');
    assert.deepEqual([status, body.code], [400, 'malformed_json']);
    assert.match(body.detail, /"security_level" twice/);
  });

  row('a whole number may have a fraction of zeros', async () => {
    for (const path of ['metrics?hours=24.0', 'metrics/series?hours=24.0&step=60.0']) {
      const headers = { 'X-API-Key': DEMO_KEY };
      assert.equal((await server.request(`/api/v2/${path}`, { headers })).status, 200, path);
    }
  });

  const keys = (query: string) =>
    server.request(`/api/v2/keys?${query}`, { headers: { 'X-API-Key': DEMO_KEY } });

  row('a plus sign in a query is explained', async () => {
    const { status, body } = await keys('created_after=2026-11-20T14:00:00+01:00');
    assert.equal(status, 400);
    assert.match(body.detail, /\+ is written as %2B/);
  });

  row('one label needs no list', async () => {
    const made = await server.generate({ security_level: 128, labels: { client: 'one' } });
    const { body } = await keys('label=client:one');
    assert.equal(body.keys[0].key_id, made.body.key_id);
  });

  row('an empty parameter is an error', async () => {
    const { status, body } = await server.metrics('?hours=');
    assert.equal(status, 400);
    assert.equal(body.errors[0].pointer, '?hours');
  });
});

describe('docs/clients.md#what-other-clients-send', () => {
  it('has one row for each of these tests, in their order, and no other', () => {
    const rows = (PAGE ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| ') && line.endsWith(' |'));
    const documented = rows.slice(1).map((line) => line.slice(2, -2).split(' | ').at(-1));
    assert.deepEqual(documented, titles);
  });
});
