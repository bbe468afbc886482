/** Systems that exchange keys through their agents, whatever happens meanwhile, and the books of what they got. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { type AgentSite, idsOf, type Key } from './agent-site.ts';

/** Keys of one request. */
const MOST = 6;

/** Between the requests of a system. */
const PAUSE_MS = 100;

/** A slave without an outcome after this time fails: longer than the slowest machine takes. */
const PATIENCE_MS = 600_000;

/** What systems got: each key once in each role, and the same key at both ends. */
export class AgentBooks {
  /** IDs of keys whose copies a fault has taken away or changed, on which slaves get an error. */
  readonly spoilt = new Set<string>();
  readonly #keys = new Map<string, string>();
  readonly #read = new Set<string>();
  /** Requests whose connection ended without an answer. */
  unanswered = 0;
  /** Requests that were to be sent again. */
  unavailable = 0;
  /** Keys that their slaves cannot get, because an answer was lost or the copy is spoilt. */
  refused = 0;

  get taken(): number {
    return this.#keys.size;
  }

  get read(): number {
    return this.#read.size;
  }

  /** The ID of a key that a system has. */
  anyTaken(random: () => number): string | undefined {
    return [...this.#keys.keys()][Math.floor(random() * this.#keys.size)];
  }

  has(id: string): boolean {
    return this.#keys.has(id);
  }

  noteTaken(keys: readonly Key[]): void {
    for (const { key_ID: id, key } of keys) {
      assert.ok(!this.#keys.has(id), `a master got ${id} twice`);
      this.#keys.set(id, key);
    }
  }

  noteRead(keys: readonly Key[]): void {
    for (const { key_ID: id, key } of keys) {
      assert.equal(key, this.#keys.get(id), `two keys under ${id}`);
      assert.ok(!this.#read.has(id), `a slave got ${id} twice`);
      this.#read.add(id);
    }
  }

  /** Exchanges keys until `isOver`. A lost answer costs its keys; then the system asks again. */
  async exchange(
    master: AgentSite,
    slave: AgentSite,
    random: () => number,
    isOver: () => boolean,
  ): Promise<void> {
    while (!isOver()) {
      await this.exchangeOnce(master, slave, 1 + Math.floor(random() * MOST));
      await delay(PAUSE_MS);
    }
  }

  /** Resolves with true if both ends got the keys. */
  async exchangeOnce(master: AgentSite, slave: AgentSite, number: number): Promise<boolean> {
    const taken = await this.#call(master, slave, 'enc_keys', { number });
    if (taken === null || taken.status === 503) return false;
    assert.equal(taken.status, 200, JSON.stringify(taken.json));
    assert.equal(taken.keys.length, number);
    this.noteTaken(taken.keys);
    return this.#readOnce(slave, master, taken.keys);
  }

  async #readOnce(slave: AgentSite, master: AgentSite, keys: readonly Key[]): Promise<boolean> {
    const endMs = performance.now() + PATIENCE_MS;
    for (let isLost = false; performance.now() < endMs; ) {
      const read = await this.#call(slave, master, 'dec_keys', idsOf(keys));
      if (read?.status === 200) {
        assert.equal(read.keys.length, keys.length);
        this.noteRead(read.keys);
        return true;
      }
      if (read?.status === 400) {
        const isSpoilt = keys.some(({ key_ID: id }) => this.spoilt.has(id));
        assert.ok(
          isLost || isSpoilt,
          `keys are not there: ${JSON.stringify(keys.map(({ key_ID }) => key_ID))}`,
        );
        this.refused += keys.length;
        return false;
      }
      assert.ok(read === null || read.status === 503, `${read?.status}`);
      isLost ||= read === null;
      await delay(PAUSE_MS);
    }
    assert.fail('a slave has no outcome');
  }

  /** Resolves with null if there was no answer. */
  async #call(system: AgentSite, other: AgentSite, rest: string, body: object) {
    const answer = await system.call(other, rest, body).catch(() => null);
    if (answer === null) this.unanswered += 1;
    if (answer?.status === 503) this.unavailable += 1;
    return answer;
  }
}
