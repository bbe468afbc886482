/**
 * Clients that make keys and revoke some of them, whatever happens to the servers meanwhile, and what then must hold on
 * every server, in the database and in the log.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { parseKeyId } from '../../../src/keys/index.ts';
import type { RevocationReason } from '../../../src/ledger/index.ts';
import type { LogSite } from '../ledgers/log-site.ts';
import { until } from '../run/until.ts';
import type { Server } from '../servers/server.ts';
import type { Json } from '../texts/receipt-by-the-page.ts';

/** What happens to a key of a client. */
interface Plan {
  readonly expires: boolean;
  readonly reasons: readonly RevocationReason[];
  /** The revocations are sent at once. */
  readonly atOnce: boolean;
}

const plan = (expires: boolean, ...reasons: RevocationReason[]): Plan => ({
  ...{ expires, reasons, atOnce: false },
});

const PLANS: readonly Plan[] = [
  plan(false),
  plan(false, 'superseded'),
  plan(false, 'key_compromise'),
  plan(false, 'cessation_of_use', 'key_compromise'),
  plan(false, 'key_compromise', 'superseded'),
  { ...plan(false, 'superseded', 'key_compromise'), atOnce: true },
  { ...plan(false, 'superseded', 'unspecified', 'cessation_of_use'), atOnce: true },
  plan(true),
  plan(true, 'unspecified'),
  plan(true, 'unspecified', 'key_compromise'),
];

/** The revocation in an answer or a record. */
interface Stated {
  readonly status: string;
  readonly revoked_at: string | null;
  readonly revocation_reason: string | null;
}

const toStated = ({ status, revoked_at, revocation_reason }: Json): Stated => ({
  ...{ status, revoked_at, revocation_reason },
});

/** A key that a client has, and the answers to its revocations. */
interface HeldKey {
  readonly keyId: string;
  readonly key: string;
  readonly proof: string;
  readonly plan: Plan;
  readonly expiresMs: number;
  readonly answers: Stated[];
}

/** Longest time until a key expires, and until it is revoked. Some expire before they are revoked. */
const EXPIRY_MS = 3_000;
const PAUSE_MS = 400;

const RETRY_MS = 25;

/** A request without an answer after this time fails. */
const PATIENCE_MS = 60_000;

/** Concurrent requests of the audit. */
const ASKERS = 8;

const AGAIN = /^503 (overloaded|ledger_unavailable|entropy_unavailable)$/;

export class RevokingClients {
  readonly keys: HeldKey[] = [];
  /** Requests without an answer. */
  unanswered = 0;
  readonly #apiKey: string;
  readonly #addresses: () => readonly string[];
  readonly #random: () => number;
  #next = 0;

  /** `addresses` returns those of the servers that run now; clients take them in turn. */
  constructor(apiKey: string, addresses: () => readonly string[], random: () => number) {
    this.#apiKey = apiKey;
    this.#addresses = addresses;
    this.#random = random;
  }

  /** Makes this many keys, `clients` at a time, and does to each what its plan says. */
  async run(keys: number, clients: number): Promise<void> {
    let left = keys;
    const client = async () => {
      while (left-- > 0) await this.#live(PLANS[left % PLANS.length] as Plan);
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  async #live(one: Plan): Promise<void> {
    const expiresMs = one.expires
      ? Date.now() + 500 + Math.floor(this.#random() * EXPIRY_MS)
      : Number.POSITIVE_INFINITY;
    const expiry = one.expires ? { expires_at: new Date(expiresMs).toISOString() } : {};
    const body = { security_level: 256, labels: { plan: one.reasons.join('-') }, ...expiry };
    const made = await this.#send('/api/v2/generate', body);
    // The requests took longer than the key was to live.
    if (made === null) return;
    const { key_id: keyId, key, hash_proof: proof } = made;
    const held = { keyId, key, proof, plan: one, expiresMs, answers: [] as Stated[] };
    this.keys.push(held);
    const revoke = async (reason: RevocationReason) => {
      await delay(this.#random() * PAUSE_MS);
      const { key: stated } = await this.#send(`/api/v2/keys/${keyId}/revoke`, { reason });
      held.answers.push(toStated(stated));
    };
    if (one.atOnce) await Promise.all(one.reasons.map(revoke));
    else for (const reason of one.reasons) await revoke(reason);
  }

  /** Sends a request until it is answered by 200. Null if its expiry has passed meanwhile. */
  async #send(path: string, body: object): Promise<Json | null> {
    const end = Date.now() + PATIENCE_MS;
    while (Date.now() < end) {
      const answer = await this.#sendOnce(path, body);
      if (answer?.status === 200) return answer.body;
      if (answer?.status === 400 && 'expires_at' in body) return null;
      const name = `${answer?.status} ${answer?.body?.code}`;
      assert.ok(answer === null || AGAIN.test(name), `${path}: ${name}, ${answer?.body?.detail}`);
      await delay(RETRY_MS);
    }
    throw new Error(`${path}: no answer`);
  }

  async #sendOnce(path: string, body: object): Promise<{ status: number; body: Json } | null> {
    const addresses = this.#addresses();
    const address = addresses[this.#next++ % addresses.length];
    if (address === undefined) return null;
    try {
      const response = await fetch(`${address}${path}`, {
        method: 'POST',
        headers: { 'X-API-Key': this.#apiKey, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      this.unanswered += 1;
      return null;
    }
  }
}

/** Figures of an audit. */
interface Figures {
  readonly keys: number;
  readonly changes: number;
  readonly byStatus: Readonly<Record<string, number>>;
}

export class RevocationAudit {
  readonly #site: LogSite;
  readonly #servers: readonly Server[];
  readonly #keys: readonly HeldKey[];

  constructor(site: LogSite, servers: readonly Server[], keys: readonly HeldKey[]) {
    this.#site = site;
    this.#servers = servers;
    this.#keys = keys;
  }

  /**
   * Shows, of all keys of the clients:
   * - every server states the same of each, which agrees with every answer that a client got;
   * - each change of a state has one audit record, and each record one entry of the log;
   * - every server validates exactly the active ones, with and without their proof;
   * - all this holds by proof alone after the rows were pruned; ledger and log agree with themselves.
   */
  async run(): Promise<Figures> {
    await until('all keys expire', () =>
      this.#keys.every(({ plan, expiresMs }) => !plan.expires || expiresMs < Date.now()),
    );
    const states = await this.#checkRecords();
    const changes = await this.#checkLog(states);
    await this.#checkValidity(states, [{ withProof: true }, { withProof: false }]);
    await this.#checkDatabase();
    await this.#site.prune();
    assert.deepEqual(await this.#site.execute('SELECT key_id FROM ledger'), []);
    await this.#checkValidity(states, [{ withProof: true }]);
    await this.#checkDatabase();
    const byStatus = Map.groupBy(states.values(), ({ status }) => status);
    return {
      keys: this.#keys.length,
      changes,
      byStatus: Object.fromEntries([...byStatus].map(([status, all]) => [status, all.length])),
    };
  }

  async #checkDatabase(): Promise<void> {
    await this.#site.run('ledger', 'verify');
    await this.#site.run('log', 'check');
  }

  /** Returns what the servers state of each key. */
  async #checkRecords(): Promise<Map<string, Stated>> {
    const states = new Map<string, Stated>();
    for (const server of this.#servers) {
      const listed = await this.#list(server);
      for (const held of this.#keys) {
        const stated = toStated(listed.get(held.keyId));
        assert.deepEqual(stated, states.get(held.keyId) ?? stated, 'all servers agree');
        states.set(held.keyId, stated);
        checkState(held, stated);
      }
    }
    return states;
  }

  /** Reads all pages of a server. */
  async #list(server: Server): Promise<Map<string, Json>> {
    const keys: Json[] = [];
    let cursor = '';
    do {
      const path = `/api/v2/keys?limit=100${cursor && `&cursor=${cursor}`}`;
      const headers = { 'X-API-Key': this.#site.apiKey };
      const { status, body } = await server.request(path, { headers });
      assert.equal(status, 200, JSON.stringify(body));
      keys.push(...body.keys);
      cursor = body.next_cursor;
    } while (cursor !== null);
    const listed = new Map(keys.map((one) => [String(one.key_id), one]));
    assert.equal(listed.size, keys.length, 'no key is listed twice');
    return listed;
  }

  /** Returns the number of changes. */
  async #checkLog(states: ReadonlyMap<string, Stated>): Promise<number> {
    await until('the log has all entries', async () => {
      const [row] = await this.#site.execute('SELECT count(*) AS n FROM log_pending');
      return Number(row?.n) === 0;
    });
    const audits = await this.#site.execute(
      `SELECT details, at_ms, (SELECT count(*) FROM log_entries WHERE entry_id = audit_id AND kind = 'audit') AS entries
       FROM audit WHERE action = 'key_revoked' ORDER BY audit_id`,
    );
    const changes = audits.map(({ details, at_ms, entries }) => {
      assert.equal(Number(entries), 1, 'an audit record has one entry');
      return { ...JSON.parse(String(details)), atMs: Number(at_ms) };
    });
    const byKey = Map.groupBy(changes, ({ key_id: keyId }) => String(keyId));
    for (const { keyId, answers } of this.#keys) {
      const own = byKey.get(keyId) ?? [];
      const described = own.map(({ state, reason, atMs }) => describe(state, reason, atMs));
      assert.ok(new Set(own.map(({ state }) => state)).size === own.length, 'no change twice');
      for (const { status, revocation_reason, revoked_at } of [
        ...answers,
        states.get(keyId) as Stated,
      ]) {
        if (revoked_at === null) continue;
        const stated = describe(status, revocation_reason, Date.parse(revoked_at));
        assert.ok(described.includes(stated), `${keyId}: ${stated} is not among ${described}`);
      }
      const isRevoked = states.get(keyId)?.revoked_at !== null;
      assert.equal(own.length > 0, isRevoked, `${keyId}: ${described}`);
    }
    assert.equal(byKey.size, [...byKey.keys()].filter((keyId) => states.has(keyId)).length);
    return changes.length;
  }

  /** Every server knows the status of every key. */
  async #checkValidity(
    states: ReadonlyMap<string, Stated>,
    ways: readonly { readonly withProof: boolean }[],
  ): Promise<void> {
    const asked = this.#servers.flatMap((server) =>
      ways.flatMap((way) => this.#keys.map((held) => ({ server, held, ...way }))),
    );
    const asker = async () => {
      for (let next = asked.pop(); next; next = asked.pop()) {
        const { server, held, withProof } = next;
        const proof = withProof ? { hash_proof: held.proof } : {};
        const { body } = await server.validate({ key: held.key, ...proof }, this.#site.apiKey);
        const status = states.get(held.keyId)?.status;
        const found = [body.valid, body.validation_details?.key_status];
        assert.deepEqual(found, [status === 'active', status], JSON.stringify({ withProof, body }));
      }
    };
    await Promise.all(Array.from({ length: ASKERS }, asker));
  }
}

const describe = (state: string, reason: unknown, atMs: number) => `${state} ${reason} ${atMs}`;

/** Checks the state of a key against its plan, and that no answer promised more. */
function checkState({ keyId, plan, answers }: HeldKey, stated: Stated): void {
  assert.ok(parseKeyId(keyId));
  const isCompromised = plan.reasons.includes('key_compromise');
  const isOver = plan.expires || plan.reasons.length > 0;
  const expected = isCompromised ? 'compromised' : isOver ? 'deactivated' : 'active';
  assert.equal(stated.status, expected, `${keyId}: ${plan.reasons}`);
  if (isCompromised) assert.equal(stated.revocation_reason, 'key_compromise');
  else if (!plan.expires) assert.equal(stated.revoked_at !== null, plan.reasons.length > 0);
  for (const answer of answers) {
    if (answer.status === stated.status) assert.deepEqual(answer, stated, keyId);
    else assert.deepEqual([answer.status, stated.status], ['deactivated', 'compromised'], keyId);
  }
}
