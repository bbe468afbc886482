/** Clients that save each answer to disk before they continue, so that no crash of the service loses it. */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { type Released, seededRandom, type Tally } from '../../clients/mixed-load.ts';
import type { Account } from '../../ledgers/books.ts';
import type { Journal } from './journal.ts';

/** Longer than the timeout of a proxy in front of the service. */
const GIVE_UP_MS = 45_000;
const LEVELS = [128, 256, 384];
/** Concurrent validations when the clients validate released keys. */
const ASKERS = 32;

/** The destination of requests. */
export interface Target {
  readonly url: string;
  /** Certificate of an HTTPS target. */
  readonly ca?: string;
}

/** An answer, or the reason why the request ended without one. */
interface Reply {
  readonly status: number;
  readonly failure: string | null;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** The fields that the clients read from a body. */
interface Body {
  readonly key_id?: string;
  readonly key?: string;
  readonly valid?: boolean;
  readonly code?: string;
}

export class Clients {
  released: Released[] = [];
  readonly tallies: Map<string, Tally>;
  /** Answers that the service must never give. */
  readonly wrong: string[] = [];
  /** Answers other than 200 by status and code, and requests that ended without an answer. */
  readonly refused = new Map<string, number>();
  /** Counts of 503 answers that are not a problem document or lack Retry-After, by their defect. */
  readonly broken = new Map<string, number>();
  /** Time of the latest key through the proxy, by `performance.now()`. */
  latestKey = 0;
  readonly #accounts: readonly Account[];
  readonly #target: Target;
  readonly #journal: Journal;
  readonly #agents = new Map<string, HttpAgent | HttpsAgent>();
  readonly #random: () => number;
  #running = false;
  #ended: Promise<unknown> = Promise.resolve();
  #validated = 0;

  constructor(accounts: readonly Account[], target: Target, journal: Journal, seed: number) {
    this.#accounts = accounts;
    this.#target = target;
    this.#journal = journal;
    this.#random = seededRandom(seed);
    this.tallies = new Map(
      accounts.map(({ accountId }) => [
        accountId,
        { generatesSent: 0, validatesSent: 0, validatesAnswered: 0 },
      ]),
    );
  }

  /** Starts `clients` clients that send through the proxy and pause between requests. */
  start(clients: number, pauseMs: number): void {
    this.#running = true;
    this.#ended = Promise.all(Array.from({ length: clients }, () => this.#client(pauseMs)));
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#ended;
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  /** Requests a key for one account. Returns true after the answer is saved, false without a key. */
  async generate(withEvidence = false, target = this.#target): Promise<boolean> {
    const { accountId, apiKey } = this.#pick(this.#accounts);
    const tally = this.#tally(accountId);
    const level = LEVELS[tally.generatesSent++ % LEVELS.length];
    const body = { security_level: level, enable_nist_validation: withEvidence };
    const reply = await this.#post(target, '/api/v2/generate', body, apiKey);
    const answer = this.#success(reply);
    if (!answer?.key_id || !answer.key) return false;
    const keyId = BigInt(answer.key_id.slice('phm_'.length)).toString(16).padStart(32, '0');
    await this.#journal.append({ keyId, accountId, at: new Date().toISOString() });
    this.released.push({ accountId, keyId, key: answer.key });
    if (target === this.#target) this.latestKey = performance.now();
    return true;
  }

  /** Validates a released key without its proof. Returns false without a verdict. */
  async validate({ key, keyId }: Released): Promise<boolean> {
    const { accountId, apiKey } = this.#pick(this.#accounts);
    const tally = this.#tally(accountId);
    tally.validatesSent += 1;
    const answer = this.#success(
      await this.#post(this.#target, '/api/v2/validate', { key }, apiKey),
    );
    if (!answer) return false;
    tally.validatesAnswered += 1;
    if (answer.valid !== true) this.wrong.push(`the released key ${keyId} is called not valid`);
    return true;
  }

  /** Validates all keys, or those released since the previous call. Retries each until a verdict or the time limit. */
  async validateReleased(all: boolean, limitMs: number): Promise<void> {
    const asked = all ? [...this.released] : this.released.slice(this.#validated);
    this.#validated = this.released.length;
    const end = Date.now() + limitMs;
    const asker = async () => {
      for (let next = asked.pop(); next; next = asked.pop()) {
        while (!(await this.validate(next))) {
          if (Date.now() > end) {
            this.wrong.push(`no verdict on the released key ${next.keyId}`);
            break;
          }
          await delay(100);
        }
      }
    };
    await Promise.all(Array.from({ length: ASKERS }, asker));
  }

  /** Forgets lost keys, so that each loss is reported once. */
  forget(lost: ReadonlySet<string>): void {
    this.released = this.released.filter(({ keyId }) => !lost.has(keyId));
    this.#validated = Math.min(this.#validated, this.released.length);
  }

  /** Forgets answered validations that the ledger no longer counts, so that each loss is reported once. */
  forgetValidations(uncounted: ReadonlyMap<string, number>): void {
    for (const [accountId, lost] of uncounted) this.#tally(accountId).validatesAnswered -= lost;
  }

  /** Sends a GET request on a new connection, with its own time limit. */
  get(url: string, limitMs: number): Promise<Reply> {
    return this.#send({ url }, 'GET', '', {}, false, limitMs);
  }

  /** Sends on average two plain keys, one key with evidence and one validation per four requests. */
  async #client(pauseMs: number): Promise<void> {
    while (this.#running) {
      const kind = this.#random() * 4;
      const known = kind < 1 && this.released.length > 0 ? this.#pick(this.released) : null;
      if (known) await this.validate(known);
      else await this.generate(kind < 2);
      await delay(pauseMs * (0.5 + this.#random()));
    }
  }

  #pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)] as T;
  }

  #tally(accountId: string): Tally {
    const tally = this.tallies.get(accountId);
    if (!tally) throw new Error(`${accountId} is not an account of these clients`);
    return tally;
  }

  #post(target: Target, path: string, body: unknown, apiKey: string): Promise<Reply> {
    const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
    const { url, ...more } = target;
    return this.#send({ url: url + path, ...more }, 'POST', JSON.stringify(body), headers);
  }

  /** Returns the body of a 200 answer, or null. Records every other answer. */
  #success({ status, failure, headers, text }: Reply): Body | null {
    const body = failure === null ? parse(text) : null;
    if (status === 200 && failure === null) {
      if (!body) this.wrong.push(`200 with a body that is not JSON: ${text.slice(0, 80)}`);
      return body;
    }
    const name = failure ?? `${status} ${body?.code ?? headers['content-type'] ?? 'empty'}`;
    count(this.refused, name);
    // The rate limit may refuse some of the many validations at the end. The clients repeat those.
    const isRefused = status >= 400 && status < 500 && status !== 429;
    if (status === 500 || isRefused) this.wrong.push(name);
    if (status === 503 && failure === null) {
      const type = headers['content-type'] ?? 'no content type';
      const lacks = headers['retry-after'] ? '' : ', no Retry-After';
      if (!/^application\/problem\+json/.test(type) || lacks) count(this.broken, `${type}${lacks}`);
    }
    return null;
  }

  #send(
    { url, ca }: Target,
    method: string,
    text: string,
    headers: Record<string, string>,
    keepAlive = true,
    limitMs: number = GIVE_UP_MS,
  ): Promise<Reply> {
    const agent = keepAlive ? this.#agent(new URL(url).origin, ca) : undefined;
    const send = url.startsWith('https:') ? requestHttps : requestHttp;
    return new Promise((resolve) => {
      const fail = (error: NodeJS.ErrnoException) =>
        resolve({ status: 0, failure: error.code ?? error.name, headers: {}, text: '' });
      const signal = AbortSignal.timeout(limitMs);
      const length = text === '' ? {} : { 'Content-Length': Buffer.byteLength(text) };
      const sent = send(url, { method, headers: { ...headers, ...length }, agent, signal });
      sent.on('response', (answer) => {
        let body = '';
        answer.setEncoding('utf8').on('data', (chunk) => {
          body += chunk;
        });
        answer.on('error', fail).on('end', () => {
          const { statusCode: status = 0, headers: answered } = answer;
          resolve({ status, failure: null, headers: answered, text: body });
        });
      });
      sent.on('error', fail).end(text);
    });
  }

  #agent(origin: string, ca: string | undefined): HttpAgent | HttpsAgent {
    const made = this.#agents.get(origin);
    if (made) return made;
    const agent = ca ? new HttpsAgent({ keepAlive: true, ca }) : new HttpAgent({ keepAlive: true });
    this.#agents.set(origin, agent);
    return agent;
  }
}

function parse(text: string): Body | null {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return null;
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
