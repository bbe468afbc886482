/** A fake of the three protocols of quantum random number generators over HTTP, as documented. */
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { QrngProfileName } from '../../src/config/index.ts';
import { openQrng, type QrngSettings } from '../../src/entropy/sources/qrng.ts';
import { type Answer, FakeService, type Received, type Scope } from './fake-service.ts';

type QrngRoute = 'health' | 'capabilities' | 'entropy';

export const API_KEY = 'qrng-Key_0123456789';
export const SECRETS: readonly string[] = [API_KEY, 'note of the server'];

export class FakeQrng {
  readonly service: FakeService<QrngRoute>;
  readonly profile: QrngProfileName;
  /** Capabilities of the QRNG Open API. */
  capabilities: object = { max_block_size: 4_096, max_block_count: 16 };
  healthTest: unknown = [
    { test_type: 'nist_90b', test_result: '0.94', time_stamp: '2026-09-13T08:34:45' },
  ];
  /** Delivered instead of fresh random bytes. */
  bytes: Uint8Array | null = null;
  readonly delivered: Buffer[] = [];

  private constructor(service: FakeService<QrngRoute>, profile: QrngProfileName) {
    this.service = service;
    this.profile = profile;
    service.handler = (request) => this.#handle(request);
  }

  static async start(scope: Scope, profile: QrngProfileName): Promise<FakeQrng> {
    return new FakeQrng(await FakeService.start<QrngRoute>(scope), profile);
  }

  /** Opens a reader of this fake, which is closed when the test ends. */
  open(
    t: TestContext,
    settings: Partial<QrngSettings> = {},
    requestMs = 60_000,
  ): ReturnType<typeof openQrng> {
    const { profile, service } = this;
    const reader = openQrng(
      { profile, url: service.url, apiKey: API_KEY, ...settings },
      { requestMs },
    );
    t.after(() => reader.close());
    return reader;
  }

  #handle(request: Received): { route: QrngRoute; answer: () => Answer } | null {
    const { method, path } = request;
    if (this.profile === 'anu') {
      const ours = method === 'GET' && path.startsWith('/?');
      return ours ? { route: 'entropy', answer: () => this.#anu(request) } : null;
    }
    if (this.profile === 'outshift') {
      const ours = method === 'POST' && path === '/api/v1/random_numbers';
      return ours ? { route: 'entropy', answer: () => this.#outshift(request) } : null;
    }
    switch (`${method} ${path}`) {
      case 'GET /v1/healthtest':
        return { route: 'health', answer: () => ({ body: { test_result: this.healthTest } }) };
      case 'GET /v1/capabilities':
        return { route: 'capabilities', answer: () => ({ body: { entropy: this.capabilities } }) };
      case 'POST /v1/entropy':
        return { route: 'entropy', answer: () => this.#openApi(request) };
      default:
        return null;
    }
  }

  #openApi({ headers, body }: Received): Answer {
    const { authorization } = headers;
    if (authorization !== undefined && authorization !== `Bearer ${API_KEY}`)
      return { status: 401 };
    const { block_size, block_count } = JSON.parse(body);
    const bytes = this.#take(block_size * block_count);
    const entropy = Array.from({ length: block_count }, (_, i) =>
      bytes.subarray(i * block_size, (i + 1) * block_size).toString('base64'),
    );
    return { body: { entropy } };
  }

  #anu({ headers, path }: Received): Answer {
    if (headers['x-api-key'] !== API_KEY) return { status: 403, body: { message: 'Forbidden' } };
    const query = new URLSearchParams(path.slice(2));
    const length = Number(query.get('length'));
    if (query.get('type') !== 'uint8' || !(length >= 1 && length <= 1_024)) return { status: 400 };
    return { body: { success: true, type: 'uint8', length, data: [...this.#take(length)] } };
  }

  #outshift({ headers, body }: Received): Answer {
    if (headers['x-id-api-key'] !== API_KEY) return { status: 401 };
    const { encoding, format, bits_per_block, number_of_blocks } = JSON.parse(body);
    const isKnown = encoding === 'raw' && format === 'decimal' && bits_per_block === 8;
    if (!isKnown || !(number_of_blocks >= 1 && number_of_blocks <= 1_000)) return { status: 400 };
    const random_numbers = [...this.#take(number_of_blocks)].map((n) => ({ decimal: `${n}` }));
    return { body: { encoding, random_numbers } };
  }

  #take(length: number): Buffer {
    const bytes = Buffer.from(this.bytes ?? randomBytes(length));
    this.delivered.push(bytes);
    return bytes;
  }
}
