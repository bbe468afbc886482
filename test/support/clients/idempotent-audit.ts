/** Compares the outcomes of idempotent calls with the ledger, the meters, the log, and what servers answer now. */
import assert from 'node:assert/strict';
import { fetchReceipt, readText } from '../ledgers/log-watch.ts';
import type { Server } from '../servers/server.ts';
import { verifyByThePage } from '../texts/receipt-by-the-page.ts';
import { openByThePage } from '../texts/sealed-key-by-the-page.ts';
import {
  type AnsweredKey,
  alreadyMade,
  type IdempotentClients,
  isSameAnswer,
  keysOf,
  type Outcome,
  sendOnce,
} from './idempotent-calls.ts';

/** Concurrent requests of the audit. */
const ASKERS = 8;

/** Number of keys of each kind whose receipts are fetched and that are validated. */
const SAMPLE = 60;

/** Figures of an audit. */
interface Figures {
  readonly keys: number;
  /** Calls by their first final answer: with new keys, with a replay, with 409. */
  readonly made: number;
  readonly replayed: number;
  readonly lost: number;
  /** Repeats during the audit, on all servers. */
  readonly repeats: number;
  /** Sealed keys that were opened. */
  readonly opened: number;
  readonly receipts: number;
}

/** The site of the calls. All its keys are theirs. */
export interface AuditedSite {
  readonly apiKey: string;
  /** Runs one statement on the database. */
  execute(sql: string): Promise<Record<string, unknown>[]>;
  /** Runs a command that must succeed. */
  run(...args: readonly string[]): Promise<unknown>;
}

/** A key that a client has, from a plaintext answer or opened. */
interface KnownKey {
  readonly keyId: string;
  readonly key: Buffer;
  readonly opening: Buffer | null;
  readonly receipt: AnsweredKey['receipt'];
  /** `sealed_to` and `sealed_digest`, or null for a plaintext key. */
  readonly sealing: string | null;
}

export class IdempotentAudit {
  readonly #site: AuditedSite;
  readonly #servers: readonly Server[];
  readonly #clients: IdempotentClients;
  readonly #known: readonly KnownKey[];

  constructor(site: AuditedSite, servers: readonly Server[], clients: IdempotentClients) {
    this.#site = site;
    this.#servers = servers;
    this.#clients = clients;
    const answered = clients.outcomes.filter(({ status }) => status === 200);
    this.#known = answered.flatMap(knownKeys);
  }

  /**
   * Shows, of all keys of this site:
   * - each call made its number of keys once, and the ledger has no other key;
   * - a repeated call is answered with the same bytes, or with 409 and the same key IDs, by every server;
   * - usage, sums and the account's own figures count each key once; ledger and log agree with themselves;
   * - sealed keys open and agree with their rows; receipts verify and bind the sealed bytes.
   */
  async run(calls: number): Promise<Figures> {
    const { outcomes, wrong } = this.#clients;
    assert.deepEqual(wrong, []);
    assert.equal(outcomes.length, calls, 'each call has an outcome');
    await this.#checkLedger();
    const repeats = await this.#repeatAll();
    await this.#checkLedger();
    const receipts = await this.#checkReceipts();
    await this.#checkValidity();
    await this.#site.run('ledger', 'verify');
    await this.#site.run('log', 'check');
    const count = (isCounted: (outcome: Outcome) => boolean) => outcomes.filter(isCounted).length;
    return {
      keys: this.#keyIds().length,
      made: count(({ status, replayed }) => status === 200 && !replayed),
      replayed: count(({ replayed }) => replayed),
      lost: count(({ status }) => status === 409),
      repeats,
      opened: this.#known.filter(({ sealing }) => sealing !== null).length,
      receipts,
    };
  }

  #keyIds(): string[] {
    return this.#clients.outcomes.flatMap(({ keyIds }) => keyIds);
  }

  async #checkLedger(): Promise<void> {
    for (const { call, keyIds } of this.#clients.outcomes) {
      assert.equal(keyIds.length, call.count, `keys of ${call.path}`);
    }
    const keyIds = this.#keyIds();
    assert.equal(new Set(keyIds).size, keyIds.length, 'no key has two calls');
    const rows = await this.#site.execute('SELECT key_id, sealed_to, sealed_digest FROM ledger');
    const sealings = new Map(rows.map((row) => [textOf(row.key_id), sealingOf(row)]));
    assert.deepEqual([...sealings.keys()].sort(), [...keyIds].sort(), 'keys in the ledger');
    for (const { keyId, sealing } of this.#known) assert.equal(sealings.get(keyId), sealing, keyId);
    await this.#checkMeters(keyIds.length);
  }

  async #checkMeters(keys: number): Promise<void> {
    const sums = [
      'SELECT sum(used) AS n FROM usage',
      ...['minute', 'hour'].flatMap((period) => [
        `SELECT sum(keys) AS n FROM rollup_${period}`,
        `SELECT sum(metered) AS n FROM rollup_${period}`,
      ]),
    ];
    for (const sql of sums) {
      const [row] = await this.#site.execute(sql);
      assert.equal(Number(row?.n), keys, sql);
    }
    for (const server of this.#servers) {
      const { body } = await server.metrics('', this.#site.apiKey);
      assert.equal(body.metrics.performance.total_keys_generated, keys, 'keys in /metrics');
      assert.equal(body.metrics.usage.total_usage, keys, 'usage in /metrics');
    }
  }

  /** Repeats every call on every server. Returns the number of repeats. */
  async #repeatAll(): Promise<number> {
    const repeats = this.#servers.flatMap((server) =>
      this.#clients.outcomes.map((outcome) => ({ server, outcome })),
    );
    await concurrently(repeats, ({ server, outcome }) => this.#repeat(server, outcome));
    return repeats.length;
  }

  async #repeat({ address }: Server, { call, keyIds, text }: Outcome): Promise<void> {
    const reply = await sendOnce(address, this.#site.apiKey, call);
    const what = `a repeat of ${call.path} ${JSON.stringify(call.body.include ?? [])}`;
    if (call.recipient === null) {
      assert.deepEqual(alreadyMade(reply), keyIds, `${what}: ${reply.status} ${reply.text}`);
      return;
    }
    assert.deepEqual([reply.status, reply.replayed], [200, true], `${what}: ${reply.text}`);
    assert.ok(isSameAnswer(call, reply.text, text), `${what}:\n${reply.text}\n${text}`);
  }

  /** Verifies the receipts that came with keys, and some that are fetched. Returns their number. */
  async #checkReceipts(): Promise<number> {
    const [server] = this.#servers as [Server];
    const policy = await readText(server, '/log/policy');
    const answered = this.#known.filter(({ receipt }) => receipt);
    for (const known of answered) checkReceipt(known, known.receipt as never, policy);
    const sample = this.#sample();
    await concurrently(sample, async (known) => {
      const receipt = await fetchReceipt(server, this.#site.apiKey, known.keyId);
      checkReceipt(known, receipt, policy);
    });
    return answered.length + sample.length;
  }

  /** The last server knows the keys that any server made. */
  async #checkValidity(): Promise<void> {
    const server = this.#servers.at(-1) as Server;
    await concurrently(this.#sample(), async ({ key }) => {
      const { body } = await server.validate({ key: key.toString('hex') }, this.#site.apiKey);
      assert.equal(body.valid, true);
    });
  }

  /** Returns some plaintext and some sealed keys. */
  #sample(): KnownKey[] {
    const isSealed = ({ sealing }: KnownKey) => sealing !== null;
    return [this.#known.filter(isSealed), this.#known.filter((one) => !isSealed(one))].flatMap(
      (keys) => keys.filter((_, i) => i % Math.ceil(keys.length / SAMPLE) === 0),
    );
  }
}

function knownKeys({ call: { recipient }, text }: Outcome): KnownKey[] {
  return keysOf(JSON.parse(text)).map((one) => {
    const { key_id: keyId, receipt } = one;
    if (recipient === null) {
      const opening = one.opening === undefined ? null : Buffer.from(one.opening, 'base64');
      return { keyId, key: Buffer.from(one.key ?? '', 'hex'), opening, receipt, sealing: null };
    }
    const opened = openByThePage(one.sealed_key, Buffer.from(recipient.privateKey));
    assert.equal(opened.header.key_id, keyId);
    const sealing = `${opened.sealedTo} ${opened.sealedDigest}`;
    return { keyId, key: opened.key, opening: opened.opening, receipt, sealing };
  });
}

/** Verifies a receipt, and that it names the key, the recipient and the sealed bytes. */
function checkReceipt(
  { keyId, key, opening, sealing }: KnownKey,
  receipt: NonNullable<AnsweredKey['receipt']>,
  policy: string,
): void {
  verifyByThePage({ receipt, policy, key, ...(opening && { opening }) });
  const { key_id, sealed_to, sealed_digest } = receipt.statement;
  assert.equal(key_id, keyId);
  assert.equal(sealed_to ? `${sealed_to} ${sealed_digest}` : null, sealing);
}

async function concurrently<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const asker = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) await work(next);
  };
  await Promise.all(Array.from({ length: ASKERS }, asker));
}

function textOf(keyId: unknown): string {
  return `phm_${BigInt(`0x${Buffer.from(keyId as Uint8Array).toString('hex')}`)}`;
}

function sealingOf({ sealed_to, sealed_digest }: Record<string, unknown>): string | null {
  if (sealed_to === null && sealed_digest === null) return null;
  const base64 = (bytes: unknown) => Buffer.from(bytes as Uint8Array).toString('base64');
  return `${base64(sealed_to)} ${base64(sealed_digest)}`;
}
