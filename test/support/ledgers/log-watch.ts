/**
 * Watches transparency logs from outside: keeps every checkpoint that a server, a state file or a receipt ever
 * showed, and every key that a client got, and checks them against the log at the end. It verifies by the page
 * (docs/receipts.md), without the project's own code.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../run/until.ts';
import type { Server } from '../servers/server.ts';
import {
  canonical,
  checkpointByThePage,
  entryByThePage,
  type Json,
  leafByThePage,
  verifyByThePage,
} from '../texts/receipt-by-the-page.ts';

/** Pause between two readings of a server's checkpoint: about two in each turn of its log. */
const POLL_MS = 50;

/** Pause of a client, which leaves processor time to the servers. A turn of the log still has several keys. */
const PAUSE_MS = 50;

/** Concurrent requests while the receipts are collected. */
const ASKERS = 8;

const TILE_WIDTH = 256;
/** An entry and its length in a bundle. */
const FRAME_BYTES = 34;

interface Receipt {
  readonly statement: Json;
  readonly proof: string;
}

/** A key as its client keeps it. */
interface Kept {
  readonly keyId: string;
  readonly key: Uint8Array;
  readonly opening: Uint8Array | null;
  /** The receipt of the answer; null if it was to be fetched later, or was not asked for. */
  readonly receipt: Receipt | null;
}

/** Figures of an audit. */
interface Figures {
  readonly checkpoints: number;
  readonly pairs: number;
  readonly keys: number;
  readonly receipts: number;
  readonly size: number;
}

function node(left: Uint8Array, right: Uint8Array): Buffer {
  return createHash('sha256').update(Buffer.of(1)).update(left).update(right).digest();
}

/** Returns the RFC 6962 roots, in base64, of the first `size` entries for each size that is asked for. */
function prefixRoots(
  entries: readonly Uint8Array[],
  sizes: ReadonlySet<number>,
): Map<number, string> {
  const roots = new Map<number, string>();
  // Roots of perfect subtrees from left to right; two of the same height merge.
  const peaks: { readonly height: number; readonly hash: Buffer }[] = [];
  const note = (size: number) => {
    if (!sizes.has(size)) return;
    const hash = peaks.reduceRight<Buffer | null>(
      (right, peak) => (right ? node(peak.hash, right) : peak.hash),
      null,
    );
    roots.set(size, (hash ?? createHash('sha256').digest()).toString('base64'));
  };
  note(0);
  for (const [i, entry] of entries.entries()) {
    let [height, hash] = [0, leafByThePage(entry)];
    for (let last = peaks.at(-1); last?.height === height; last = peaks.at(-1)) {
      peaks.pop();
      [height, hash] = [height + 1, node(last.hash, hash)];
    }
    peaks.push({ height, hash });
    note(i + 1);
  }
  return roots;
}

export class LogWatch {
  readonly kept: Kept[] = [];
  /** Answers that no client should get. */
  readonly wrong: string[] = [];
  /** By size and root: where a checkpoint was first seen. */
  readonly #seen: Map<string, string> = new Map();
  #policy: string | null = null;

  /** Adds a signed note. The signatures are verified at once if the policy is known. */
  see(note: string, where: string): void {
    const [, size = '', root = ''] = note.split('\n');
    const head = `${size} ${root}`;
    if (this.#seen.has(head)) return;
    if (this.#policy !== null) checkpointByThePage(note, this.#policy);
    this.#seen.set(head, where);
  }

  /** Adds the checkpoint of a state file, if there is one. */
  seeFile(path: string): void {
    try {
      this.see(readFileSync(path, 'utf8'), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  /** Pins the policy of the server's log. */
  async pin(server: Server): Promise<string> {
    this.#policy = await readText(server, '/log/policy');
    return this.#policy;
  }

  get policy(): string {
    assert.ok(this.#policy !== null, 'a policy is pinned');
    return this.#policy;
  }

  /** Reads the server's checkpoint all the time, until the returned function is called or the server is gone. */
  follow(server: Server): () => Promise<void> {
    let running = true;
    const reading = (async () => {
      while (running) {
        const response = await fetch(`${server.address}/log/checkpoint`).catch(() => null);
        if (response === null) return;
        const text = await response.text().catch(() => '');
        if (response.status === 200 && text.endsWith('\n')) this.see(text, server.address);
        await delay(POLL_MS);
      }
    })();
    return async () => {
      running = false;
      await reading;
    };
  }

  /** Requests one key; every second one with a receipt. Rejects if the connection ends. */
  async generate(server: Server, apiKey: string, withReceipt: boolean): Promise<void> {
    const include = withReceipt ? ['receipt'] : [];
    const { status, body } = await server.generate({ security_level: 256, include }, apiKey);
    if (status !== 200) {
      if (body?.code !== 'ledger_unavailable') this.wrong.push(`generate: ${status} ${body?.code}`);
      return;
    }
    this.#keep(body);
  }

  #keep(body: Json): void {
    const { key_id: keyId, key, opening, receipt } = body;
    const bytes = opening === undefined ? null : Buffer.from(opening, 'base64');
    this.kept.push({
      keyId,
      key: Buffer.from(key, 'hex'),
      opening: bytes,
      receipt: receipt ?? null,
    });
    if (receipt) this.#seeReceipt(receipt);
  }

  #seeReceipt({ proof }: Receipt): void {
    this.see(proof.slice(proof.indexOf('\n\n') + 2), 'a receipt');
  }

  /** Lets clients send to a server until the returned function is called or the server is gone. */
  load(server: Server, apiKey: string, clients: number): () => Promise<void> {
    let running = true;
    const client = async (number: number) => {
      for (let i = number; running; i++) {
        try {
          await this.generate(server, apiKey, i % 2 === 0);
          await delay(PAUSE_MS);
        } catch {
          return;
        }
      }
    };
    const all = Promise.all(Array.from({ length: clients }, (_, i) => client(i)));
    return async () => {
      running = false;
      await all;
    };
  }

  /**
   * Checks against the log as this server has it now:
   * - every checkpoint ever seen has the root of the first entries of today's log, so that any two are consistent;
   * - each answered key has its entry and a receipt that verifies, except those in `lost`, whose rows are gone;
   * - a receipt that was answered earlier names the entry that the log has at its index.
   */
  async audit(
    server: Server,
    apiKey: string,
    lost: ReadonlySet<string> = new Set(),
  ): Promise<Figures> {
    assert.deepEqual(this.wrong, []);
    const receipts = await this.#fetchReceipts(server, apiKey, lost);
    const checkpoint = await readText(server, '/log/checkpoint');
    this.see(checkpoint, server.address);
    const { size } = checkpointByThePage(checkpoint, this.policy);
    const entries = await readEntries(server, size);
    this.#compareHeads(entries);
    this.#compareReceipts(entries, receipts);
    const heads = this.#seen.size;
    return {
      checkpoints: heads,
      pairs: (heads * (heads - 1)) / 2,
      keys: this.kept.length,
      receipts: receipts.length,
      size,
    };
  }

  /** Any two prefixes of one list of entries are consistent, so all pairs are. */
  #compareHeads(entries: readonly Uint8Array[]): void {
    const heads = [...this.#seen].map(([head, where]) => ({ words: head.split(' '), where }));
    const sizes = new Set(heads.map(({ words }) => Number(words[0])));
    assert.ok(Math.max(...sizes) <= entries.length, 'the log has every entry that was published');
    const roots = prefixRoots(entries, sizes);
    const forks = heads.filter(({ words }) => roots.get(Number(words[0])) !== words[1]);
    assert.deepEqual(forks, [], 'no checkpoint contradicts the log');
  }

  #compareReceipts(entries: readonly Uint8Array[], fetched: readonly Receipt[]): void {
    const places = new Map(entries.map((entry, i) => [Buffer.from(entry).toString('hex'), i]));
    const answered = this.kept.flatMap(({ receipt }) => (receipt ? [receipt] : []));
    for (const receipt of [...answered, ...fetched]) {
      const { index } = verifyByThePage({ receipt, policy: this.policy });
      const place = places.get(entryByThePage(receipt.statement).toString('hex'));
      assert.equal(place, index, `the entry of ${receipt.statement.key_id}`);
    }
    for (const { receipt, key, opening } of this.kept) {
      if (receipt && opening) verifyByThePage({ receipt, policy: this.policy, key, opening });
    }
  }

  async #fetchReceipts(
    server: Server,
    apiKey: string,
    lost: ReadonlySet<string>,
  ): Promise<Receipt[]> {
    const asked = this.kept.filter(({ keyId }) => !lost.has(keyId));
    const receipts: Receipt[] = [];
    const asker = async () => {
      for (let next = asked.pop(); next; next = asked.pop()) {
        const receipt = await fetchReceipt(server, apiKey, next.keyId);
        if (next.receipt) {
          assert.equal(canonical(receipt.statement), canonical(next.receipt.statement));
        }
        receipts.push(receipt);
      }
    };
    await Promise.all(Array.from({ length: ASKERS }, asker));
    return receipts;
  }
}

/** Fetches a key's receipt; waits while its entry is not in the log, or the log starts. */
export async function fetchReceipt(
  server: Server,
  apiKey: string,
  keyId: string,
): Promise<Receipt> {
  let receipt: Receipt | undefined;
  await until(`the receipt of ${keyId} comes`, async () => {
    const headers = { 'X-API-Key': apiKey };
    const { status, body } = await server.request(`/api/v2/keys/${keyId}/receipt`, { headers });
    if (status === 200) receipt = body.receipt;
    else assert.match(body.code, /^(receipt_pending|log_stopped)$/, `the receipt of ${keyId}`);
    return status === 200;
  });
  assert.ok(receipt);
  return receipt;
}

/** Reads a text of the log; waits while the log starts. */
export async function readText(server: Server, path: string): Promise<string> {
  let text = '';
  await until(`the log of ${server.address} starts`, async () => {
    const response = await fetch(`${server.address}${path}`);
    text = await response.text();
    if (response.status !== 200) assert.match(text, /The transparency log is starting/, path);
    return response.status === 200;
  });
  return text;
}

/** Returns the first `size` entries of the log. */
async function readEntries(server: Server, size: number): Promise<Uint8Array[]> {
  const entries: Uint8Array[] = [];
  for (let first = 0; first < size; first += TILE_WIDTH) {
    const width = Math.min(TILE_WIDTH, size - first);
    const path = `/log/tile/entries/${bundleName(first / TILE_WIDTH)}`;
    const response = await fetch(
      `${server.address}${path}${width < TILE_WIDTH ? `.p/${width}` : ''}`,
    );
    assert.equal(response.status, 200, path);
    const bytes = new Uint8Array(await response.arrayBuffer());
    assert.equal(bytes.length, width * FRAME_BYTES, path);
    for (let at = 0; at < bytes.length; at += FRAME_BYTES) {
      entries.push(bytes.subarray(at + 2, at + FRAME_BYTES));
    }
  }
  return entries;
}

/** Returns the index of a tile in the form of c2sp.org/tlog-tiles: `x001/234`. */
function bundleName(index: number): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.{3}/g) ?? [];
  return groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join('/');
}
