/** Concurrent clients of the real server that record their requests and responses. */
import assert from 'node:assert/strict';
import type { Account } from '../ledgers/books.ts';
import type { Answer, Server } from '../servers/server.ts';

/** A released key, as its client keeps it. */
export interface Released {
  readonly accountId: string;
  /** UUID in hexadecimal, as in the ledger. */
  readonly keyId: string;
  readonly key: string;
}

/** Requests sent by one account's clients, and those answered with 200. */
export interface Tally {
  generatesSent: number;
  validatesSent: number;
  validatesAnswered: number;
}

/** Pseudo-random numbers in [0, 1) that a seed repeats (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Number of concurrent validations when all keys are checked. */
const ASKERS = 8;

const LEVELS = [128, 256, 384];

/**
 * Responses that a server may give under load, without its ledger, with its quota used up, or after the suite has had no
 * processor for ten seconds.
 */
const REFUSALS = /^(429 quota_exceeded|503 (overloaded|ledger_unavailable|entropy_unavailable))$/;

export class Load {
  readonly released: Released[] = [];
  readonly tallies: Map<string, Tally>;
  /** Responses that no client should ever get. */
  readonly wrong: string[] = [];
  /** Refusals by status and code. */
  readonly refused: Map<string, number> = new Map();
  /** The longest time that a client has waited for a response. */
  longestMs = 0;
  readonly #accounts: readonly Account[];
  readonly #random: () => number;
  #validated = 0;

  constructor(accounts: readonly Account[], random: () => number) {
    this.#accounts = accounts;
    this.#random = random;
    this.tallies = new Map(
      accounts.map(({ accountId }) => [
        accountId,
        { generatesSent: 0, validatesSent: 0, validatesAnswered: 0 },
      ]),
    );
  }

  /** Lets `clients` send to a server until the returned function is called or the server is gone. */
  start(server: Server, clients: number): () => Promise<void> {
    let running = true;
    const client = async () => {
      while (running) {
        try {
          await this.#one(server);
        } catch {
          // The connection ended with its server, so the request stays unanswered.
          return;
        }
      }
    };
    const all = Promise.all(Array.from({ length: clients }, client));
    return async () => {
      running = false;
      await all;
    };
  }

  /** Requests one plain key; returns true if it was released. */
  async generate(server: Server, account: Account, withEvidence = false): Promise<boolean> {
    const { generatesSent } = this.#sent(account, 'generatesSent');
    const body = {
      security_level: LEVELS[generatesSent % 3],
      enable_nist_validation: withEvidence,
    };
    const answer = await this.#timed(server.generate(body, account.apiKey));
    if (!this.#isSuccess(answer)) return false;
    const { key_id, key } = answer.body;
    const keyId = BigInt(key_id.slice('phm_'.length)).toString(16).padStart(32, '0');
    this.released.push({ accountId: account.accountId, keyId, key });
    return true;
  }

  /** Validates a released key without its proof, and records a verdict other than `valid`. */
  async validate(server: Server, account: Account, { key, keyId }: Released): Promise<void> {
    const tally = this.#sent(account, 'validatesSent');
    const answer = await this.#timed(server.validate({ key }, account.apiKey));
    if (!this.#isSuccess(answer)) return;
    tally.validatesAnswered += 1;
    if (!answer.body.valid) this.wrong.push(`the released key ${keyId} is not known`);
  }

  /** Validates each released key once; none may be unknown. */
  async validateReleased(server: Server, account: Account): Promise<void> {
    const asked = this.released.slice(this.#validated);
    this.#validated += asked.length;
    const asker = async () => {
      for (let next = asked.pop(); next; next = asked.pop()) {
        await this.validate(server, account, next);
      }
    };
    await Promise.all(Array.from({ length: ASKERS }, asker));
    assert.deepEqual(this.wrong, []);
  }

  /** On average: two plain keys, one validated key and one validation. */
  async #one(server: Server): Promise<void> {
    const account = this.#pick(this.#accounts);
    const kind = this.#random() * 4;
    const known = kind < 1 && this.released.length > 0 ? this.#pick(this.released) : undefined;
    if (known) await this.validate(server, account, known);
    else await this.generate(server, account, kind < 2);
  }

  #pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)] as T;
  }

  #sent({ accountId }: Account, kind: 'generatesSent' | 'validatesSent'): Tally {
    const tally = this.tallies.get(accountId);
    if (!tally) throw new Error(`${accountId} is no account of this load`);
    tally[kind] += 1;
    return tally;
  }

  async #timed(answer: Promise<Answer>): Promise<Answer> {
    const began = performance.now();
    const given = await answer;
    this.longestMs = Math.max(this.longestMs, performance.now() - began);
    return given;
  }

  #isSuccess({ status, headers, body }: Answer): boolean {
    if (status === 200) return true;
    const named = `${status} ${body?.code}`;
    this.refused.set(named, (this.refused.get(named) ?? 0) + 1);
    if (!REFUSALS.test(named) || !headers.get('retry-after')) this.wrong.push(named);
    return false;
  }
}
