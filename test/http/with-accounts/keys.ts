/** Key records of a running server: access, revocation and answers. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { formatTimestamp } from '../../../src/clock.ts';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { type Account, addAccounts, querySqlite } from '../../support/ledgers/books.ts';
import { until } from '../../support/run/until.ts';
import type { Answer } from '../../support/servers/server.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';

let owner: string;
let other: string;
/** A key of `owner`. */
let key: { readonly key_id: string; readonly key: string; readonly hash_proof: string };

before(async () => {
  const accounts = await addAccounts(sqliteIn(dataDir), ['professional', 'professional']);
  [owner, other] = (accounts as [Account, Account]).map(({ apiKey }) => apiKey) as [string, string];
  key = await generate();
});

const call = (path: string, apiKey: string | null, init: RequestInit = {}): Promise<Answer> =>
  server.request(`/api/v2/keys${path}`, {
    ...init,
    headers: {
      ...(apiKey !== null && { 'X-API-Key': apiKey }),
      ...(init.body !== undefined && { 'Content-Type': 'application/json' }),
    },
  });

const revoke = (keyId: string, apiKey: string | null, reason: string = 'superseded') =>
  call(`/${keyId}/revoke`, apiKey, { method: 'POST', body: JSON.stringify({ reason }) });

async function generate(extra: object = {}) {
  const { status, body } = await server.generate({ security_level: 256, ...extra }, owner);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const base64Url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

async function list(query: string, apiKey: string = owner) {
  const { status, body } = await call(`?${query}`, apiKey);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

async function validate({ key: text, hash_proof }: typeof key, withProof = true) {
  const { body } = await server.request('/api/v2/validate', {
    method: 'POST',
    headers: { 'X-API-Key': other, 'Content-Type': 'application/json' },
    body: JSON.stringify({ key: text, ...(withProof && { hash_proof }) }),
  });
  return body;
}

/** Reasons that deactivate a key. */
const REASONS = ['superseded', 'cessation_of_use', 'unspecified'] as const;

const query = querySqlite(dataDir);

/** Returns the revocations of a key that are entries of the log, oldest first, once no record waits for its entry. */
async function revocationsOf(
  keyId: string,
): Promise<{ state: string; reason: string; at: string }[]> {
  const records = `FROM audit LEFT JOIN log_entries ON log_entries.entry_id = audit.audit_id
    WHERE action = 'key_revoked' AND details LIKE '%"${keyId}"%'`;
  const waiting = `SELECT 1 ${records} AND log_entries.entry_id IS NULL`;
  await until('each revocation is in the log', async () => (await query(waiting)).length === 0);
  const rows = await query(`SELECT at_ms, details ${records} ORDER BY at_ms`);
  return rows.map(({ at_ms, details }) => {
    const { state, reason } = JSON.parse(String(details));
    return { state, reason, at: formatTimestamp(Number(at_ms)) };
  });
}

describe('access to key records', () => {
  const PRINCIPALS = ['owner', 'other', 'invalid', 'none'] as const;
  const keyOf = (principal: (typeof PRINCIPALS)[number]): string | null =>
    ({ owner, other, invalid: `${owner.slice(0, -1)}_`, none: null })[principal];

  /** Route, then the outcome of each principal. */
  const TABLE: [string, (apiKey: string | null) => Promise<Answer>, string[]][] = [
    ['list', (apiKey) => call('', apiKey), ['200', '200', 'invalid_api_key', 'missing_api_key']],
    [
      'read',
      (apiKey) => call(`/${key.key_id}`, apiKey),
      ['200', 'key_not_found', 'invalid_api_key', 'missing_api_key'],
    ],
    [
      'read an unknown key',
      (apiKey) => call('/phm_1', apiKey),
      ['key_not_found', 'key_not_found', 'invalid_api_key', 'missing_api_key'],
    ],
    [
      'read what is no key ID',
      (apiKey) => call('/phm_01', apiKey),
      ['key_not_found', 'key_not_found', 'invalid_api_key', 'missing_api_key'],
    ],
    [
      'revoke',
      async (apiKey) => revoke(apiKey === owner ? (await generate()).key_id : key.key_id, apiKey),
      ['200', 'key_not_found', 'invalid_api_key', 'missing_api_key'],
    ],
  ];

  for (const [route, ask, outcomes] of TABLE) {
    it(`is right for everyone: ${route}`, async () => {
      for (const [i, principal] of PRINCIPALS.entries()) {
        const { status, body } = await ask(keyOf(principal));
        assert.equal(body.code ?? String(status), outcomes[i], principal);
      }
    });
  }

  it('shows an account its own keys only', async () => {
    const { keys } = await list('');
    assert.ok(keys.some((one: { key_id: string }) => one.key_id === key.key_id));
    assert.deepEqual((await list('', other)).keys, []);
  });

  it('changes nothing for a foreign key', async () => {
    await revoke(key.key_id, other, 'key_compromise');
    assert.equal((await call(`/${key.key_id}`, owner)).body.key.status, 'active');
  });
});

describe('a key record', () => {
  it('says what the ledger knows, and nothing of the key', async () => {
    const made = await generate({
      labels: { env: 'test', 'team.name': 'Käse ✓' },
      expires_at: '2999-01-31T12:00:00+01:00',
      enable_nist_validation: true,
    });
    assert.deepEqual(made.labels, { env: 'test', 'team.name': 'Käse ✓' });
    assert.equal(made.expires_at, '2999-01-31T11:00:00.000+00:00');
    const { status, body } = await call(`/${made.key_id}`, owner);
    assert.equal(status, 200);
    assert.deepEqual(
      { ...body.key, api_key_id: null },
      {
        key_id: made.key_id,
        status: 'active',
        created_at: made.timestamp,
        security_level: 256,
        security_strength_bits: made.security_strength_bits,
        modulation_type: 'phase',
        source: made.source,
        api_key_id: null,
        evidence: {
          verdict: 'PASS',
          tests_passed: made.nist_validation.tests_passed,
          total_tests: made.nist_validation.total_tests,
          gate_p_value: body.key.evidence.gate_p_value,
        },
        sealed_to: null,
        recipients: [],
        delivery_id: null,
        labels: made.labels,
        expires_at: made.expires_at,
        revoked_at: null,
        revocation_reason: null,
        receipt_url: `/api/v2/keys/${made.key_id}/receipt`,
      },
    );
    assert.ok(!JSON.stringify(body).includes(made.key));
    const receipt = () => server.request(body.key.receipt_url, { headers: { 'X-API-Key': owner } });
    await until('the receipt', async () => (await receipt()).body.code !== 'receipt_pending');
    assert.equal((await receipt()).status, 200);
  });

  it('refuses labels and times that it could not keep', async () => {
    const cases: [object, RegExp][] = [
      [{ labels: { Env: 'x' } }, /#\/labels\/Env/],
      [{ labels: { env: 'x'.repeat(65) } }, /#\/labels\/env/],
      [{ labels: { env: 'a\u0000' } }, /#\/labels\/env/],
      [{ labels: { env: 1 } }, /#\/labels/],
      [
        { labels: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`n${i}`, ''])) },
        /#\/labels/,
      ],
      [{ labels: { env: '👍'.repeat(65) } }, /#\/labels\/env must be at most 64 characters/],
      [{ labels: { env: 'a\u202eb' } }, /#\/labels\/env/],
      [{ expires_at: '' }, /#\/expires_at must be a date-time/],
      [{ expires_at: '1960-01-01T00:00:00Z' }, /#\/expires_at must be in the future/],
      [
        { expires_at: '2020-01-01T00:00:00Z' },
        /#\/expires_at must be in the future; by the server's clock it is 20\d\d-/,
      ],
      [{ expires_at: '2999-02-30T00:00:00Z' }, /#\/expires_at/],
      [{ expires_at: '2999-01-01' }, /#\/expires_at/],
    ];
    for (const [extra, expected] of cases) {
      const { status, body } = await server.generate({ security_level: 256, ...extra }, owner);
      assert.equal(status, 400, JSON.stringify(extra));
      const errors = body.errors.map(
        (one: { pointer: string; message: string }) => `${one.pointer} ${one.message}`,
      );
      assert.match(errors.join('\n'), expected);
    }
  });

  it('counts the characters of a label, not their code units', async () => {
    const labels = { env: '👍'.repeat(64) };
    assert.deepEqual((await generate({ labels })).labels, labels);
  });
});

describe('a revocation', () => {
  it('moves a key from active to deactivated to compromised, and never back', async () => {
    const made = await generate();
    const steps: [reason: string, status: string, kept: string][] = [
      ['superseded', 'deactivated', 'superseded'],
      ['unspecified', 'deactivated', 'superseded'],
      ['key_compromise', 'compromised', 'key_compromise'],
      ['cessation_of_use', 'compromised', 'key_compromise'],
    ];
    for (const [reason, status, kept] of steps) {
      const answer = await revoke(made.key_id, owner, reason);
      assert.equal(answer.status, 200);
      assert.deepEqual(
        [answer.body.key.status, answer.body.key.revocation_reason],
        [status, kept],
        reason,
      );
      const { valid, validation_details: details } = await validate(made);
      assert.deepEqual([valid, details.key_status], [false, status]);
    }
  });

  it('needs a reason that it knows', async () => {
    for (const body of ['{}', '{"reason":"because"}', '{"reason":null}']) {
      const answer = await call(`/${key.key_id}/revoke`, owner, { method: 'POST', body });
      assert.equal(answer.body.code, 'invalid_request', body);
    }
  });

  it('is one change and one entry of the log, however often it is asked for at once', async () => {
    const made = await generate();
    const atOnce = async (reasons: readonly string[]): Promise<Answer[]> => {
      const answers = await Promise.all(reasons.map((one) => revoke(made.key_id, owner, one)));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      return answers;
    };
    const record = async () => (await call(`/${made.key_id}`, owner)).body.key;
    const entry = ({
      status: state,
      revocation_reason: reason,
      revoked_at: at,
    }: Answer['body']) => ({
      ...{ state, reason, at },
    });
    // Reasons of one state compete: the first one stays.
    const reasons = Array.from({ length: 8 }, () => REASONS).flat();
    const deactivated = await atOnce(reasons);
    const first = await record();
    assert.equal(first.status, 'deactivated');
    for (const { body } of deactivated) assert.deepEqual(body.key, first);
    // A deactivated key becomes compromised once. Meanwhile others get either state, both of which are recorded.
    const both = await atOnce(reasons.map((one, i) => (i % 2 === 0 ? 'key_compromise' : one)));
    const second = await record();
    assert.equal(second.status, 'compromised');
    for (const [i, { body }] of both.entries()) {
      const isFirst = i % 2 !== 0 && body.key.status === 'deactivated';
      assert.deepEqual(body.key, isFirst ? first : second);
    }
    assert.deepEqual(await revocationsOf(made.key_id), [entry(first), entry(second)]);
  });
});

describe('the list of keys', () => {
  it('is in order, newest first, and pages without gaps', async () => {
    const made = [];
    for (let i = 0; i < 7; i++) made.push((await generate({ labels: { run: 'pages' } })).key_id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { keys: { key_id: string }[]; next_cursor: string | null } = await list(
        `limit=3&label=run:pages${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      assert.ok(page.keys.length <= 3);
      seen.push(...page.keys.map(({ key_id: keyId }) => keyId));
      cursor = page.next_cursor;
    } while (cursor !== null);
    assert.deepEqual(seen, made.toReversed());
  });

  it('filters by each field, and by several together', async () => {
    const from = new Date().toISOString();
    const plain = await generate({ security_level: 128, labels: { f: '1', g: 'x' } });
    const validated = await generate({ enable_nist_validation: true, labels: { f: '1' } });
    const revoked = await generate({ labels: { f: '1' } });
    await revoke(revoked.key_id, owner);
    const idsOf = async (query: string) =>
      (await list(`label=f:1&created_after=${encodeURIComponent(from)}&${query}`)).keys.map(
        (one: { key_id: string }) => one.key_id,
      );
    const apiKeyId = (await call(`/${plain.key_id}`, owner)).body.key.api_key_id;
    const [p, v, r] = [plain.key_id, validated.key_id, revoked.key_id];
    assert.deepEqual(await idsOf(''), [r, v, p]);
    assert.deepEqual(await idsOf('security_level=128'), [p]);
    assert.deepEqual(await idsOf('evidence=PASS'), [v]);
    assert.deepEqual(await idsOf('evidence=none'), [r, p]);
    assert.deepEqual(await idsOf('status=deactivated'), [r]);
    assert.deepEqual(await idsOf('status=active&source=os'), [v, p]);
    assert.deepEqual(await idsOf('revoked=true'), [r]);
    assert.deepEqual(await idsOf('revoked=false'), [v, p]);
    const soon = new Date(Date.now() + 60_000).toISOString();
    const ending = await generate({ labels: { f: '1' }, expires_at: soon });
    assert.deepEqual(await idsOf(`expires_before=${soon}`), [], 'the bound is not included');
    const later = new Date(Date.parse(soon) + 1000).toISOString();
    assert.deepEqual(await idsOf(`expires_before=${later}`), [ending.key_id]);
    await revoke(ending.key_id, owner);
    assert.deepEqual(await idsOf(`expires_before=${later}&revoked=false`), []);
    assert.deepEqual(await idsOf('revoked=true&evidence=none'), [ending.key_id, r]);
    assert.deepEqual(await idsOf('label=g:x'), [p]);
    assert.deepEqual(await idsOf('label=g:y'), []);
    assert.deepEqual(await idsOf(`api_key_id=${apiKeyId}`), [ending.key_id, r, v, p]);
    assert.deepEqual(await idsOf('api_key_id=key_other'), []);
    assert.deepEqual(await idsOf(`created_before=${encodeURIComponent(from)}`), []);
  });

  it('begins at any cursor, of another account or other filters too, and has own keys alone', async () => {
    const accounts = await addAccounts(sqliteIn(dataDir), ['professional', 'professional']);
    const [mine, theirs] = accounts.map(({ apiKey }) => apiKey) as [string, string];
    const make = async (apiKey: string, labels: object) =>
      (await server.generate({ security_level: 128, labels }, apiKey)).body.key_id as string;
    // Theirs lie between mine: 1 2 1 2 1 2.
    const [own, foreign]: [string[], string[]] = [[], []];
    for (const n of ['a', 'b', 'a']) {
      own.push(await make(mine, { n }));
      foreign.push(await make(theirs, { n }));
    }
    const [oldest, middle, newest] = own as [string, string, string];
    const cursorOf = async (query: string, apiKey: string): Promise<string> =>
      (await list(query, apiKey)).next_cursor;
    const pageAt = async (cursor: string, query = '') => {
      const page = await list(`cursor=${cursor}${query}`, mine);
      assert.ok(foreign.every((keyId) => !JSON.stringify(page).includes(keyId)));
      return [page.keys.map((one: { key_id: string }) => one.key_id), page.next_cursor];
    };
    // It names the newest of their keys, and all of mine are older.
    const foreignCursor = await cursorOf('limit=1', theirs);
    assert.deepEqual(await pageAt(foreignCursor), [[newest, middle, oldest], null]);
    const inBetween = await cursorOf('limit=2', theirs);
    assert.deepEqual(await pageAt(inBetween), [[middle, oldest], null]);
    const filtered = await cursorOf('limit=1&label=n:a', mine);
    assert.deepEqual(await pageAt(filtered, '&label=n:b'), [[middle], null]);
    assert.deepEqual(await pageAt(filtered), [[middle, oldest], null]);
    const [lowest, highest] = [Buffer.alloc(16), Buffer.alloc(16, 0xff)].map(base64Url) as [
      string,
      string,
    ];
    assert.deepEqual(await pageAt(lowest), [[], null]);
    assert.deepEqual(await pageAt(highest), [[newest, middle, oldest], null]);
    // What has not the form of a cursor is refused, and not repeated.
    const garbage = [
      ...['', 'null', '..', newest, `${filtered}A`, filtered.slice(1), `${filtered}%3D%3D`],
      ...[`${filtered}&cursor=${filtered}`, "'%20OR%201=1", '%00'.repeat(16), 'A'.repeat(2_000)],
    ];
    for (const cursor of garbage) {
      const { status, body } = await call(`?cursor=${cursor}`, mine);
      assert.deepEqual([status, body.code], [400, 'invalid_request'], cursor);
      assert.match(body.detail, /"cursor" must be the next_cursor of an earlier page/);
    }
  });

  it('refuses parameters that it cannot read', async () => {
    for (const query of [
      'limit=0',
      'limit=101',
      'cursor=x',
      'created_after=yesterday',
      'security_level=512',
      'label=env',
      'label=Env:x',
      'evidence=FAIL',
      'status=revoked',
      'revoked=1',
      'expires_before=soon',
      'limit=1&limit=2',
      Array.from({ length: 17 }, (_, i) => `label=n${i}:x`).join('&'),
    ]) {
      const { body } = await call(`?${query}`, owner);
      assert.equal(body.code, 'invalid_request', query);
    }
  });

  it('says what a wrong parameter needs', async () => {
    const cases: [query: string, message: RegExp][] = [
      ['label=Env:x', /"label" must be name:value, .* of a-z, .* got the string "Env:x"/],
      ['created_after=2026-01-01T00:00:00+01:00', /\+ is written as %2B/],
      ['revoked=constructor', /"revoked" must be true or false, given once; got the string "const/],
      [
        'created_after=2026-01-02T00:00:00Z&created_before=2026-01-01T00:00:00Z',
        /"created_before" must not be earlier than created_after/,
      ],
    ];
    for (const [query, message] of cases) {
      assert.match((await call(`?${query}`, owner)).body.detail, message);
    }
    assert.equal((await call('?created_after=1960-01-01T00:00:00Z', owner)).status, 200);
  });
});
