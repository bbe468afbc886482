/** The agent's boxes at a running service: what they list, open and refuse, and what an intermediary can do. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SYSTEM_CLOCK } from '../../../packages/agent/src/clock.ts';
import {
  type KeySize,
  type MakeOrder,
  SourceError,
} from '../../../packages/agent/src/source/key-boxes.ts';
import { ServiceBoxes } from '../../../packages/agent/src/source/service-boxes.ts';
import { parseRecipientKey, type RecipientKey, thumbprintOf } from '../../../sdk/src/index.ts';
import { commandJson, runCommand } from '../../support/servers/run-command.ts';
import { makeDataDir, removeDataDir, Server } from '../../support/servers/server.ts';

const CONTEXT = Buffer.alloc(32, 7).toString('base64');
const NEVER = new AbortController().signal;

type Tamper = (path: string, text: string) => string;

interface During {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Resolves with a value and the time in which it came. */
async function timed<T>(call: Promise<T>): Promise<During & { readonly value: T }> {
  const fromMs = Date.now();
  const value = await call;
  return { value, fromMs, toMs: Date.now() };
}

/** A key lives from its making on, however long the answer took. Its time has whole seconds at least. */
function assertLives(
  { expiresAtMs }: { readonly expiresAtMs: number },
  lifeMs: number,
  { fromMs, toMs }: During,
): void {
  const madeMs = expiresAtMs - lifeMs;
  assert.ok(madeMs > fromMs - 1_000 && madeMs <= toMs, `${fromMs} ${madeMs} ${toMs}`);
}

describe('boxes at a service', () => {
  const dataDir = makeDataDir();
  const folder = mkdtempSync(join(tmpdir(), 'agent-boxes-'));
  const operator = { PHM_DATA_DIR: dataDir, PHM_PORT: '0' };
  const sites = ['paris', 'lyon'] as const;
  const own = {} as Record<
    (typeof sites)[number],
    { key: RecipientKey; apiKey: string; thumbprint: string }
  >;
  let server: Server;
  let policy: string;
  let origin: string;

  before(async () => {
    const admin = (...args: string[]) => commandJson<Record<string, string>>(args, operator);
    const create = ['account', 'create', '--init', '--name', 'Ada', '--plan', 'professional'];
    const { account_id: account = '' } = await admin(...create);
    for (const site of sites) {
      const pair = join(folder, site);
      assert.equal((await runCommand(['recipient', 'new', '--output', pair], operator)).code, 0);
      await admin(
        'recipient',
        'add',
        site,
        '--account',
        account,
        '--public-key',
        `${pair}.recipient`,
      );
      const scopes = ['--scope', 'generate', '--scope', 'receive', '--recipient', site];
      const { api_key: apiKey = '' } = await admin(
        'api-key',
        'issue',
        '--account',
        account,
        ...scopes,
      );
      const key = parseRecipientKey(readFileSync(`${pair}.recipient-key`, 'utf8'));
      const thumbprint = Buffer.from(await thumbprintOf(key.publicKey)).toString('base64');
      own[site] = { key, apiKey, thumbprint };
    }
    server = await Server.start(dataDir, { PHM_RATE_LIMITS: 'off' });
    policy = await (await fetch(`${server.address}/log/policy`)).text();
    origin = /^log ([^+ ]+)\+/m.exec(policy)?.[1] ?? '';
  });
  after(async () => {
    await server.stop();
    removeDataDir(dataDir);
    rmSync(folder, { recursive: true });
  });

  function boxesOf(
    site: (typeof sites)[number],
    more: { policy?: string; origin?: string; lifeMs?: number; tamper?: Tamper } = {},
  ): ServiceBoxes {
    const { tamper = (_, text) => text } = more;
    const changed: typeof fetch = async (url, options) => {
      const response = await fetch(url, options);
      const body = tamper(new URL(`${url}`).pathname, await response.text());
      const headers = new Headers(response.headers);
      headers.delete('content-length');
      headers.delete('content-encoding');
      return new Response(body, { status: response.status, headers });
    };
    return new ServiceBoxes({
      url: server.address,
      apiKey: own[site].apiKey,
      policy: more.policy ?? policy,
      origin: more.origin ?? origin,
      recipient: site,
      recipientKey: own[site].key,
      lifeMs: more.lifeMs ?? 3_600_000,
      clock: SYSTEM_CLOCK,
      fetch: changed,
    });
  }

  function order(count: number, size: KeySize = 256): MakeOrder {
    const ids = Array.from({ length: count }, () => randomUUID());
    const parties = sites.map((recipient) => ({
      recipient,
      thumbprint: own[recipient].thumbprint,
    }));
    return { ids, size, parties, context: CONTEXT, lifeMs: 3_600_000 };
  }

  /** Returns the IDs of a whole listing. */
  async function listAll(boxes: ServiceBoxes): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const listing = await boxes.list(cursor, NEVER);
      ids.push(...listing.ids);
      cursor = listing.cursor;
      if (listing.isEnd) return ids;
    }
  }

  it('make keys that both sites open, stated with recipients and context', async () => {
    for (const size of [128, 256, 384] as const) {
      const ordered = order(3, size);
      const { value: made, ...during } = await timed(boxesOf('paris').make(ordered, NEVER));
      assert.deepEqual(made.map(({ id }) => id).sort(), [...ordered.ids].sort());
      const fetched = await boxesOf('lyon').fetch(
        made.map(({ id }) => id),
        NEVER,
      );
      for (const [i, one] of made.entries()) {
        const other = fetched[i];
        assert.ok(other?.kind === 'opened');
        assert.deepEqual(other.copy.key, one.key);
        assert.equal(one.key.length, size / 8);
        for (const copy of [one, other.copy]) {
          assert.deepEqual(copy.thumbprints, [own.paris.thumbprint, own.lyon.thumbprint]);
          assert.equal(copy.context, CONTEXT);
          assertLives(copy, 3_600_000, during);
        }
      }
    }
  });

  it('end a key with its own life, whatever end the service states', async () => {
    const ordered = order(1);
    const { value: made, ...during } = await timed(boxesOf('paris').make(ordered, NEVER));
    assert.equal(made.length, 1);
    const later: Tamper = (_, text) => text.replace(/"until":"20\d\d/g, '"until":"2999');
    for (const lifeMs of [3_600_000, 1_200_000]) {
      const boxes = boxesOf('lyon', { lifeMs, tamper: later });
      const [fetched] = await boxes.fetch(ordered.ids, NEVER);
      assert.ok(fetched?.kind === 'opened');
      assertLives(fetched.copy, lifeMs, during);
    }
  });

  it('list all that a box holds over pages, then wait for new copies, and not for their own', async () => {
    const paris = boxesOf('paris');
    const before = await listAll(boxesOf('lyon'));
    const ordered = [order(100), order(60)];
    for (const one of ordered) await paris.make(one, NEVER);
    const ids = ordered.flatMap((one) => one.ids);
    const lyon = boxesOf('lyon');
    await lyon.fetch(ids.slice(0, 20), NEVER);
    assert.deepEqual((await listAll(lyon)).sort(), [...before, ...ids].sort());
    // What paris has had made, its own waiting list does not show.
    const shown = (await paris.list('waiting', NEVER)).ids;
    assert.ok(!shown.some((id) => ids.includes(id)));
    const waiting = lyon.list('waiting', NEVER).then((listing) => listing.ids);
    assert.equal((await waiting).length > 0, true);
    await lyon.fetch(ids.slice(20, 120), NEVER);
    await lyon.fetch(ids.slice(120), NEVER);
    const next = lyon.list('waiting', NEVER);
    const {
      ids: [last],
    } = order(1);
    await paris.make({ ...order(1), ids: [last ?? ''] }, NEVER);
    assert.deepEqual((await next).ids, [last]);
    for (const site of [paris, lyon]) {
      for (let i = 0; i < ids.length; i += 100) await site.remove(ids.slice(i, i + 100), NEVER);
    }
    const left = new Set(await listAll(lyon));
    assert.ok(!ids.some((id) => left.has(id)));
  });

  it('say of what is not there that it is gone, and remove it again', async () => {
    const [paris, lyon] = [boxesOf('paris'), boxesOf('lyon')];
    const unknown = randomUUID();
    const [made] = await paris.make(order(1), NEVER);
    const id = made?.id ?? '';
    assert.deepEqual(await lyon.fetch([unknown], NEVER), [{ kind: 'gone', id: unknown }]);
    const both = await lyon.fetch([id, unknown], NEVER);
    assert.deepEqual(
      both.map(({ kind }) => kind),
      ['opened', 'gone'],
    );
    for (let i = 0; i < 2; i += 1) await lyon.remove([id, unknown], NEVER);
    await lyon.remove([unknown], NEVER);
    assert.deepEqual(await lyon.fetch([id, unknown], NEVER), [
      { kind: 'gone', id },
      { kind: 'gone', id: unknown },
    ]);
  });

  it('tell the state at each site to both, and of no key that is not there', async () => {
    const [paris, lyon] = [boxesOf('paris'), boxesOf('lyon')];
    const ordered = order(1);
    const [id = ''] = ordered.ids;
    assert.equal(await paris.state(id, NEVER), null);
    await paris.make(ordered, NEVER);
    const states = async () => {
      const [one, other] = [await paris.state(id, NEVER), await lyon.state(id, NEVER)];
      assert.deepEqual(one, other);
      return sites.map((site) => one?.get(site));
    };
    assert.deepEqual(await states(), ['waiting', 'waiting']);
    await lyon.fetch([id], NEVER);
    assert.deepEqual(await states(), ['waiting', 'received']);
    await paris.remove([id], NEVER);
    assert.deepEqual(await states(), ['gone', 'received']);
  });

  it('refuse copies of another log and without an end, and wait for a receipt that is late', async () => {
    const other = (
      JSON.parse(
        readFileSync(new URL('../../vectors/sealing/served.json', import.meta.url), 'utf8'),
      ) as { policy: string }
    ).policy;
    const ordered = order(2);
    assert.deepEqual(await boxesOf('paris', { policy: other }).make(ordered, NEVER), []);
    const refused = await boxesOf('lyon', { policy: other }).fetch(ordered.ids, NEVER);
    assert.deepEqual(
      refused.map(({ kind }) => kind),
      ['refused', 'refused'],
    );
    const otherName = await boxesOf('lyon', { origin: 'other.example/log' }).fetch(
      ordered.ids,
      NEVER,
    );
    assert.deepEqual(
      otherName.map(({ kind }) => kind),
      ['refused', 'refused'],
    );
    const endless: Tamper = (_, text) => text.replaceAll(/"until":"[^"]*",/g, '');
    const withoutEnd = await boxesOf('lyon', { tamper: endless }).fetch(ordered.ids, NEVER);
    assert.deepEqual(
      withoutEnd.map(({ kind }) => kind),
      ['refused', 'refused'],
    );
    const tamper: Tamper = (_, text) =>
      JSON.stringify(JSON.parse(text), (name, value) => (name === 'receipt' ? null : value));
    const late = await boxesOf('lyon', { tamper }).fetch(ordered.ids, NEVER);
    assert.deepEqual(
      late.map(({ kind }) => kind),
      ['pending', 'pending'],
    );
    const opened = await boxesOf('lyon').fetch(ordered.ids, NEVER);
    assert.deepEqual(
      opened.map(({ kind }) => kind),
      ['opened', 'opened'],
    );
  });

  it('take no copy for another, and no key of somebody else', async () => {
    const ordered = order(2);
    const made = await boxesOf('paris').make(ordered, NEVER);
    const [one = '', two = ''] = ordered.ids;
    // An intermediary answers with the copy of the one ID under the other, also if it is asked for one alone.
    const copies = new Map<string, object>();
    const swapped: Tamper = (path, text) => {
      if (!path.endsWith('/fetch')) return text;
      const answer = JSON.parse(text) as { deliveries: { delivery_id: string }[] };
      for (const copy of answer.deliveries) copies.set(copy.delivery_id, copy);
      const deliveries = answer.deliveries.map(({ delivery_id }) => ({
        ...copies.get(delivery_id === one ? two : one),
        delivery_id,
      }));
      return JSON.stringify({ ...answer, deliveries });
    };
    const others = await boxesOf('lyon', { tamper: swapped }).fetch([one, two], NEVER);
    assert.deepEqual(
      others.map(({ kind }) => kind),
      ['refused', 'refused'],
    );
    const removed: Tamper = (_, text) => text.replace(/"ciphertext":"./g, '"ciphertext":"_');
    const results = await boxesOf('lyon', { tamper: removed }).fetch([one], NEVER);
    assert.equal(results[0]?.kind, 'refused');
    assert.equal(made.length, 2);
  });

  it('reject with an error of their own, and without the API key, when nobody answers', async () => {
    const gone = new ServiceBoxes({
      url: 'http://127.0.0.1:1',
      apiKey: own.paris.apiKey,
      policy,
      origin,
      recipient: 'paris',
      recipientKey: own.paris.key,
      lifeMs: 3_600_000,
      clock: SYSTEM_CLOCK,
    });
    for (const call of [
      (signal: AbortSignal) => gone.make(order(1), signal),
      (signal: AbortSignal) => gone.list(null, signal),
      (signal: AbortSignal) => gone.fetch([randomUUID()], signal),
      (signal: AbortSignal) => gone.remove([randomUUID()], signal),
      (signal: AbortSignal) => gone.state(randomUUID(), signal),
    ]) {
      await assert.rejects(call(AbortSignal.timeout(300)), (error) => {
        assert.ok(error instanceof SourceError);
        assert.ok(!error.message.includes(own.paris.apiKey));
        return true;
      });
    }
  });
});
