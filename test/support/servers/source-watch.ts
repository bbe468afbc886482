/** One entropy source of a running server, as its clients and its operator see it. */
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { SourceName } from '../../../src/entropy/index.ts';
import { type Answer, DEMO_PROFESSIONAL_KEY, type Server } from './server.ts';

const POLL_MS = 25;

/** Asserts that the response has no key and says that the entropy source has no output. */
export function assertRefused({ status, body, headers }: Answer): void {
  assert.equal(status, 503);
  assert.equal(body.code, 'entropy_unavailable');
  assert.equal(body.key, undefined);
  assert.match(headers.get('retry-after') ?? '', /^[1-9][0-9]*$/);
}

export class SourceWatch {
  readonly name: SourceName;
  readonly #server: Server;
  /** Start of the part of the log that tests read. */
  #logStart = 0;

  constructor(server: Server, name: SourceName) {
    this.#server = server;
    this.name = name;
  }

  /** Requests a key from this source. */
  generate(securityLevel = 128, more: object = {}): Promise<Answer> {
    const request = { security_level: securityLevel, entropy_source: this.name, ...more };
    return this.#server.generate(request, DEMO_PROFESSIONAL_KEY);
  }

  /** Takes draws until none is left, and resolves with the response that refused. */
  async untilRefused(): Promise<Answer> {
    // Two draws per request, then one.
    while ((await this.generate(384)).status === 200);
    for (;;) {
      const answer = await this.generate(128);
      if (answer.status !== 200) return answer;
    }
  }

  /** Returns the source's entry among the checks of `/readyz`. */
  async health(): Promise<string> {
    const { body } = await this.#server.request('/readyz');
    return body.checks[`entropy:${this.name}`];
  }

  async untilHealth(health: 'ok' | 'unavailable', meanwhile = () => {}): Promise<void> {
    while ((await this.health()) !== health) {
      meanwhile();
      await setTimeout(POLL_MS);
    }
  }

  /** Ignores the log up to now. */
  forgetLog(): void {
    this.#logStart = this.#server.log.length;
  }

  /** Waits for a log line about this source. */
  async untilLogged(
    kind: 'delivering' | 'failing' | 'latched',
    detail = /./,
    meanwhile: () => unknown = () => {},
  ): Promise<void> {
    while (!this.#hasLogged(kind, detail)) {
      await meanwhile();
      await setTimeout(POLL_MS);
    }
  }

  #hasLogged(kind: string, detail: RegExp): boolean {
    const lines = this.#server.log.slice(this.#logStart).split('\n');
    return lines.some(
      (line) =>
        line.includes(`"source":"${this.name}"`) &&
        line.includes(`entropy source: ${kind}`) &&
        detail.test(line),
    );
  }
}
