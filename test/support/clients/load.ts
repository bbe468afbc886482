/** Clients that generate and validate keys, one request at a time, until they are stopped. */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

interface LoadOptions {
  readonly port: number;
  readonly apiKey: string;
  readonly clients: number;
}

/** A key from a response. */
export interface IssuedKey {
  readonly key: string;
  readonly keyId: string;
  readonly proof: string;
}

/** Leaves processor time to the servers: tests examine their behaviour, not their speed. */
const PAUSE_MS = 10;

/** One key in this many is validated, which another thread does. */
const EVIDENCE_SHARE = 8;

/** Number of keys that a client keeps and validates again, on any server. */
const RECENT = 32;

/** The fields that tests read of a response or an error. */
interface Body {
  readonly key?: string;
  readonly key_id?: string;
  readonly hash_proof?: string;
  readonly valid?: boolean;
  readonly code?: string;
}

export class Load {
  readonly issued: IssuedKey[] = [];
  /** Every unexpected response. */
  readonly wrong: string[] = [];
  /** Number of answered requests. */
  answered = 0;
  readonly #options: LoadOptions;
  readonly #agent: Agent;
  readonly #ended: Promise<unknown>;
  #running = true;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.clients });
    const clients = Array.from({ length: options.clients }, (_, i) => this.#client(i));
    this.#ended = Promise.all(clients);
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#ended;
    this.#agent.destroy();
  }

  /** Odd clients validate by proof, even ones by the ledger. */
  async #client(number: number): Promise<void> {
    for (let i = 0; this.#running; i++) {
      try {
        const enable_nist_validation = i % EVIDENCE_SHARE === 0;
        const order = { security_level: 256, include: ['hash_proof'], enable_nist_validation };
        const made = await this.#post('/api/v2/generate', order);
        await delay(PAUSE_MS);
        if (made.status !== 200) {
          this.wrong.push(`generate: ${made.status} ${made.body.code}`);
          continue;
        }
        const { key = '', key_id: keyId = '', hash_proof: proof = '' } = made.body;
        this.issued.push({ key, keyId, proof });
        const recent = this.issued.slice(-RECENT);
        for (const one of [recent.at(-1), recent[i % recent.length]]) {
          const asked = { key: one?.key, ...(number % 2 === 1 && { hash_proof: one?.proof }) };
          const { status, body } = await this.#post('/api/v2/validate', asked);
          if (status !== 200 || body.valid !== true) {
            this.wrong.push(`validate: ${status} ${body.code ?? `valid: ${body.valid}`}`);
          }
        }
      } catch (error) {
        this.wrong.push(`lost: ${(error as Error).message}`);
      }
    }
  }

  #post(path: string, body: unknown): Promise<{ status: number; body: Body }> {
    const { port, apiKey } = this.#options;
    return new Promise((resolve, reject) => {
      const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
      const asked = request(
        { port, host: '127.0.0.1', path, method: 'POST', agent: this.#agent, headers },
        async (answer) => {
          try {
            let text = '';
            for await (const chunk of answer) text += chunk;
            this.answered += 1;
            resolve({ status: answer.statusCode ?? 0, body: text === '' ? {} : JSON.parse(text) });
          } catch (error) {
            reject(error);
          }
        },
      );
      asked.on('error', reject);
      asked.end(JSON.stringify(body));
    });
  }
}
