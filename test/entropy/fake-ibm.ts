/**
 * A fake of IBM Cloud IAM and the jobs of IBM Quantum, as documented for version 2026-04-15 of the
 * REST API.
 */
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import {
  type IbmQuantumLimits,
  type IbmQuantumSettings,
  openIbmQuantum,
} from '../../src/entropy/sources/ibm-quantum.ts';
import { type Answer, FakeService, type Received, type Scope } from './fake-service.ts';

export type IbmRoute = 'token' | 'create' | 'state' | 'results' | 'cancel';

export const API_KEY = 'api-key_Of-Nobody.0123456789';
export const CRN = 'crn:v1:bluemix:public:quantum-computing:us-east:a/0123:4567::';
export const TOKEN_PREFIX = 'eyJ-token-';
export const SECRETS: readonly string[] = [API_KEY, CRN, TOKEN_PREFIX, 'note of the server'];

/**
 * Polls at once. The other limits are so long that a busy machine meets no timeout outside the
 * tests of timeouts.
 */
const LIMITS: IbmQuantumLimits = {
  requestMs: 60_000,
  jobMs: 60_000,
  firstPollMs: 1,
  longestPollMs: 5,
  cancelMs: 60_000,
  failuresInRow: 3,
};

export class FakeIbm {
  readonly service: FakeService<IbmRoute>;
  /** Lifetime of a token in seconds. */
  tokenLife = 3_600;
  /** States that successive polls of a job get; the last one repeats. */
  states = ['Queued', 'Running', 'Completed'];
  /** Shots instead of fresh random ones. */
  shots: readonly number[] | null = null;
  /** Shots of each job, in order. */
  readonly delivered: number[][] = [];
  readonly #tokens = new Set<string>();
  #polls = 0;
  #jobs = 0;

  private constructor(service: FakeService<IbmRoute>) {
    this.service = service;
    service.handler = (request) => this.#handle(request);
  }

  static async start(scope: Scope): Promise<FakeIbm> {
    return new FakeIbm(await FakeService.start<IbmRoute>(scope));
  }

  /** Opens a reader of this fake, which is closed when the test ends. */
  open(
    t: TestContext,
    settings: Partial<IbmQuantumSettings> = {},
    limits: Partial<IbmQuantumLimits> = {},
  ): ReturnType<typeof openIbmQuantum> {
    const { url } = this.service;
    const reader = openIbmQuantum(
      {
        apiKey: API_KEY,
        serviceCrn: CRN,
        backend: 'ibm_fake',
        url: `${url}/api/v1`,
        iamUrl: `${url}/identity/token`,
        shots: 256,
        ...settings,
      },
      { ...LIMITS, ...limits },
    );
    t.after(() => reader.close());
    return reader;
  }

  /** Invalidates every token, as if revoked. */
  revokeTokens(): void {
    this.#tokens.clear();
  }

  #handle(request: Received): { route: IbmRoute; answer: () => Answer } | null {
    const { method, path } = request;
    if (method === 'POST' && path === '/identity/token') {
      return { route: 'token', answer: () => this.#token(request) };
    }
    const route = jobRoute(method, path);
    return route === null ? null : { route, answer: () => this.#authorised(request, route) };
  }

  #token({ headers, body }: Received): Answer {
    const form = new URLSearchParams(body);
    const isForm = headers['content-type'] === 'application/x-www-form-urlencoded';
    const isGrant = form.get('grant_type') === 'urn:ibm:params:oauth:grant-type:apikey';
    if (!isForm || !isGrant || form.get('apikey') !== API_KEY) {
      return { status: 400, body: { errorCode: 'BXNIM0415E', errorMessage: 'note of the server' } };
    }
    const access_token = `${TOKEN_PREFIX}${randomBytes(8).toString('hex')}`;
    this.#tokens.add(access_token);
    const expiration = Math.floor(Date.now() / 1000) + this.tokenLife;
    return {
      body: {
        access_token,
        refresh_token: 'not_supported',
        token_type: 'Bearer',
        expires_in: this.tokenLife,
        expiration,
      },
    };
  }

  #authorised({ headers, body }: Received, route: Exclude<IbmRoute, 'token'>): Answer {
    const token = headers.authorization?.replace(/^Bearer /, '') ?? '';
    const version = headers['ibm-api-version'];
    if (!this.#tokens.has(token)) return { status: 401, body: { errors: ['note of the server'] } };
    if (headers['service-crn'] !== CRN || version !== '2026-04-15') return { status: 403 };
    if (route === 'create') return this.#create(body);
    if (route === 'state') return this.#state();
    return route === 'cancel' ? { status: 204 } : this.#results();
  }

  #create(body: string): Answer {
    const job = JSON.parse(body);
    if (job.program_id !== 'sampler' || job.params.version !== 2) return { status: 400 };
    this.#polls = 0;
    this.#jobs += 1;
    const [[, , count]] = job.params.pubs;
    this.delivered.push([...(this.shots ?? randomBytes(count))]);
    return { body: { id: `job-${this.#jobs}`, backend: job.backend, private: true } };
  }

  #state(): Answer {
    const status = this.states[Math.min(this.#polls, this.states.length - 1)];
    this.#polls += 1;
    return { body: { id: 'job', backend: 'ibm_fake', state: { status, reason: '' }, status } };
  }

  #results(): Answer {
    const samples = this.delivered.at(-1)?.map((shot) => `0x${shot.toString(16)}`);
    const data = { c: { samples, num_bits: 8 } };
    return { body: { results: [{ data, metadata: {} }], metadata: { version: 2 } } };
  }
}

function jobRoute(method: string, path: string): Exclude<IbmRoute, 'token'> | null {
  if (method === 'POST' && path === '/api/v1/jobs') return 'create';
  const action = path.replace(/^\/api\/v1\/jobs\/job-\d+/, '');
  if (method === 'POST') return action === '/cancel' ? 'cancel' : null;
  if (action === '/results') return 'results';
  return action === '' ? 'state' : null;
}
