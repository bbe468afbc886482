/** A client of a scripted server. */
import { PhmClient, type PhmClientOptions } from '../../sdk/src/index.ts';
import { RECEIPT, RECEIPTED_KEY } from '../../src/http/openapi/receipt-example.ts';
import type { SEALED_KEY } from '../../src/http/openapi/sealed-example.ts';
import { answers, ScriptedServer, type Step } from '../support/clients/scripted-server.ts';

export const API_KEY = 'phmsk_live_ThisApiKeyMustNeverBeShown_abcdef';

export const KEY = '64f48946bc0f783ed7e06e86d8c2a30bea09f5472b2c69c850793f2a4d7161dc';

const TIMESTAMP = '2026-01-31T12:00:00.000+00:00';

/** The response to a request for a plain key of 256 bits. */
export const GENERATED = {
  key_id: RECEIPT.statement.key_id,
  key: KEY,
  security_level: 256,
  security_strength_bits: 256,
  entropy_bits: 256,
  latency_ms: 1.5,
  timestamp: TIMESTAMP,
  source: 'os',
  quantum_hardware: false,
  entropy_job_id: null,
  hash_proof: 'proof_12345',
};

export const REPORT = {
  bits: 1_048_576,
  constants: 'exact',
  alpha: 0.01,
  tests: [],
  tests_passed: 15,
  total_tests: 15,
  modulation_tests: [],
  gate: {
    p_value: 0.5,
    alpha: 1e-6,
    tests: 17,
    weakest: { stream: 'carrier', name: 'rank' },
    verdict: 'PASS',
    streams_judged: 1,
  },
  evidence_definition: 2,
};

/** Members that validation adds. */
export const VERDICT = {
  nist_validation: {
    certification_status: 'PASS',
    tests_passed: 15,
    total_tests: 15,
    compliance_level: 'CERTIFICATION_READY',
  },
  nist_score: 100,
  nist_grade: 'A',
};

/** Members that `include: ['receipt']` adds. */
export const RECEIPTED = {
  receipt: RECEIPT,
  receipt_url: `/api/v2/keys/${GENERATED.key_id}/receipt`,
  opening: RECEIPTED_KEY.opening,
};

/** A response with the members that every call expects. */
export const ANY_ANSWER = {
  ...GENERATED,
  ...RECEIPTED,
  valid: true,
  validation_details: {
    key_format: 'valid',
    entropy_check: 'skipped',
    proof_verification: 'passed',
  },
  metrics: {
    performance: {
      total_keys_generated: 1,
      average_latency_ms: 1.5,
      nist_compliance_rate: 1,
      error_rate: 0,
    },
    usage: { api_key_count: 1, total_usage: 2 },
  },
  series: { step_minutes: 60, start: TIMESTAMP, end: TIMESTAMP, points: [] },
  randomness: { keys: 0, first: null, last: null, significance_level: 0.01, rows: [] },
  status: 'ok',
};

let made = 0;

/** Returns the body of another key, plain or sealed. */
export function another<Body extends object>(body: Body): Body {
  made += 1;
  const key_id = `phm_${made}`;
  const { key, sealed_key, receipt } = body as Partial<typeof ANY_ANSWER & typeof SEALED_KEY>;
  return {
    ...body,
    key_id,
    ...(key && { key: made.toString(16).padStart(key.length, '0') }),
    ...(receipt && { receipt: { ...receipt, statement: { ...receipt.statement, key_id } } }),
    ...('receipt_url' in body && { receipt_url: `/api/v2/keys/${key_id}/receipt` }),
    ...(sealed_key && { sealed_key: anotherSealed(sealed_key, key_id) }),
  };
}

function anotherSealed(sealed: (typeof SEALED_KEY)['sealed_key'], key_id: string) {
  const stated = JSON.parse(Buffer.from(sealed.header, 'base64url').toString());
  const header = Buffer.from(JSON.stringify({ ...stated, key_id })).toString('base64url');
  return { ...sealed, enc: Buffer.from(key_id).toString('base64url'), header };
}

/** A successful response with another key for each request, as the service sends it. */
export function makes(body: object = GENERATED, headers: Record<string, string> = {}): Step {
  return (response) => answers(another(body), headers)(response);
}

/** Runs `work` with a client of a server that responds with `steps`. */
export async function withClient(
  steps: readonly Step[],
  work: (phm: PhmClient, server: ScriptedServer) => Promise<void>,
  options: Partial<PhmClientOptions> = {},
): Promise<void> {
  const server = await ScriptedServer.start(...steps);
  try {
    await work(new PhmClient({ baseUrl: server.address, apiKey: API_KEY, ...options }), server);
  } finally {
    await server.stop();
  }
}

/** Returns the reason with which a promise rejects. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const [outcome] = await Promise.allSettled([promise]);
  if (outcome.status === 'rejected') return outcome.reason;
  throw new Error('the promise was expected to reject');
}
