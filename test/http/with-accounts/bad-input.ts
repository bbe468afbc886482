/** Bad input to a running server always gets a problem, never a 5xx, and breaks nothing. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { sqliteIn } from '../../support/clients/unknown-keys.ts';
import { type Account, addAccounts } from '../../support/ledgers/books.ts';
import type { Answer } from '../../support/servers/server.ts';
import { dataDir, server } from '../../support/servers/shared-server.ts';
import { CODE_POINTS } from '../../support/texts/code-points.ts';

let apiKey: string;

function assertHonest({ status, headers, body }: Answer, what: string): void {
  assert.ok(status < 500, `${status} for ${what}`);
  assert.equal(typeof body.success, 'boolean', what);
  assert.ok(body.timestamp, what);
  if (status === 200) return;
  assert.match(headers.get('content-type') ?? '', /problem\+json/, what);
  assert.equal(body.success, false);
  assert.equal(body.status, status);
}

async function assertStillWorks(): Promise<void> {
  const { status, body } = await server.generate({ security_level: 128 }, apiKey);
  assert.equal(status, 200);
  assert.equal((await server.validate({ key: body.key }, apiKey)).body.valid, true);
}

const field = fc.oneof(
  fc.constantFrom(128, 256, 384, true, false, null, 'phase', 'os', 'quantum-simulator', '256'),
  fc.jsonValue({ maxDepth: 2 }),
);

describe('bad input', () => {
  before(async () => {
    const [account] = (await addAccounts(sqliteIn(dataDir), ['enterprise'])) as [Account];
    apiKey = account.apiKey;
  });

  it('never breaks generate', async () => {
    const body = fc.oneof(
      fc.record(
        {
          security_level: field,
          enable_nist_validation: fc.oneof(
            { weight: 9, arbitrary: fc.constantFrom('x', 1, null) },
            field,
          ),
          modulation_type: field,
          entropy_source: field,
          include: fc.oneof(field, fc.array(field, { maxLength: 20 })),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        assertHonest(await server.generate(value, apiKey), JSON.stringify(value));
      }),
      { numRuns: 300 },
    );
    await assertStillWorks();
  });

  it('never breaks validate', async () => {
    const proof = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 300n }).map((value) => `proof_${value}`),
      field,
    );
    const key = fc.oneof(
      fc.stringMatching(/^[0-9a-fA-F]{0,100}$/),
      fc.stringMatching(/^[0-9a-f]{64}$/),
      fc.string({ unit: CODE_POINTS }),
      field,
    );
    await fc.assert(
      fc.asyncProperty(
        fc.record({ key, hash_proof: proof }, { requiredKeys: [] }),
        async (value) => {
          assertHonest(await server.validate(value, apiKey), JSON.stringify(value));
        },
      ),
      { numRuns: 300 },
    );
    await assertStillWorks();
  });

  it('never breaks the JSON parser', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: CODE_POINTS, maxLength: 200 }), async (text) => {
        assertHonest(await server.generate(text, apiKey), text);
      }),
      { numRuns: 200 },
    );
    await assertStillWorks();
  });

  it('never breaks metrics, paths or headers', async () => {
    const segment = fc.string({ maxLength: 30 }).map(encodeURIComponent);
    await fc.assert(
      fc.asyncProperty(segment, segment, async (one, two) => {
        assertHonest(await server.metrics(`?hours=${one}&${two}=1`, apiKey), `${one} ${two}`);
        if (one !== 'docs') assertHonest(await server.request(`/x${one}/${two}`), `${one} ${two}`);
      }),
      { numRuns: 150 },
    );
    const headerText = fc.stringMatching(/^[\x21-\x7e]{0,80}$/);
    await fc.assert(
      fc.asyncProperty(headerText, headerText, async (key, id) => {
        const answer = await server.request('/api/v2/metrics', {
          headers: { 'X-API-Key': key, 'X-Request-Id': id },
        });
        assert.equal(answer.status, 401);
        assertHonest(answer, key);
      }),
      { numRuns: 150 },
    );
    await assertStillWorks();
  });
});
