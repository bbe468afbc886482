/** A service whose every text is hostile: where the commands accept any text, and where they do not. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { makeKeyId } from '../ledger/contract.ts';
import { requestIdOf } from '../support/clients/scripted-server.ts';
import { sealAnswer } from '../support/clients/sealed-answer.ts';

/** Clears the line, sets the title, turns the text, hides a part, and writes a line of its own. */
export const HOSTILE =
  '\x1b[2K\x1b]0;title\x07\x9b31m\x7f\r\nFORGED LINE\n\u202e\u2066\u2028\u2029\u200b\u061c\u{e0041}\ud800';

/** The one delivery of the service. */
export const DELIVERY_ID = '3c1f0a52-7c1e-4a0b-9f55-0d8f6a2b9e11';

const TIME = '2026-11-23T05:00:00.000+00:00';

export interface HostileService {
  /** Its answers have the forms that the commands ask for. */
  readonly fitting: string;
  /** Its answers have none of them. */
  readonly odd: string;
  /** Returns the address of answers with this status. */
  readonly failing: (status: number) => string;
  readonly stop: () => void;
}

/** Starts the service. `recipient` is the text of the file to which it seals keys. */
export async function startHostileService(recipient: string): Promise<HostileService> {
  const server = createServer(async (request, response) => {
    const [, kind = '', path = ''] = /^\/(\w+)([^?]*)/.exec(request.url ?? '') ?? [];
    const status = kind === 'fitting' || kind === 'odd' ? 200 : Number(kind);
    const type = status === 200 ? 'application/json' : 'application/problem+json';
    response.writeHead(status, { 'content-type': type, ...requestIdOf(response) });
    const answer = kind === 'fitting' ? await fittingAnswer(path, request, recipient) : ODD_ANSWER;
    response.end(JSON.stringify(status === 200 ? answer : problem(status)));
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    fitting: `${address}/fitting`,
    odd: `${address}/odd`,
    failing: (status) => `${address}/${status}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const PERFORMANCE = {
  total_keys_generated: 1,
  average_latency_ms: 1,
  nist_compliance_rate: 1,
  error_rate: 0,
};

const ODD_RECORD = {
  key_id: HOSTILE,
  created_at: HOSTILE,
  security_level: 256,
  source: HOSTILE,
  modulation_type: HOSTILE,
  evidence: { verdict: HOSTILE, tests_passed: 15, total_tests: 15 },
  status: HOSTILE,
  labels: { [HOSTILE]: HOSTILE },
  expires_at: HOSTILE,
  revoked_at: HOSTILE,
  revocation_reason: HOSTILE,
  api_key_id: HOSTILE,
  sealed_to: HOSTILE,
  receipt_url: HOSTILE,
};

const ODD_ANSWER = {
  success: true,
  ...ODD_RECORD,
  key: 'ab'.repeat(32),
  security_strength_bits: 256,
  entropy_bits: 256,
  latency_ms: 1,
  quantum_hardware: false,
  timestamp: HOSTILE,
  hash_proof: HOSTILE,
  valid: false,
  validation_details: { [HOSTILE]: HOSTILE, format_check: HOSTILE },
  receipt: { statement: HOSTILE, proof: HOSTILE },
  keys: [ODD_RECORD],
  next_cursor: null,
  metrics: { performance: PERFORMANCE, usage: { total_usage: 1, api_key_count: 1 } },
};

function problem(status: number) {
  return {
    ...{ success: false, type: HOSTILE, title: HOSTILE, status, detail: HOSTILE, code: HOSTILE },
    errors: [1, 2].map(() => ({ pointer: HOSTILE, message: HOSTILE })),
    request_id: HOSTILE,
  };
}

function recordOf(keyId: string) {
  const ends = { expires_at: TIME, revoked_at: TIME, status: HOSTILE };
  return { ...ODD_RECORD, key_id: keyId, created_at: TIME, ...ends };
}

/** What a generated key has beside the key itself. */
function facts() {
  return {
    key_id: `phm_${BigInt(`0x${Buffer.from(makeKeyId()).toString('hex')}`)}`,
    ...{ security_level: 256, security_strength_bits: 256, entropy_bits: 256, latency_ms: 1 },
    ...{ source: HOSTILE, modulation_type: HOSTILE, quantum_hardware: false, timestamp: TIME },
    nist_validation: {
      ...{ certification_status: HOSTILE, compliance_level: HOSTILE },
      ...{ tests_passed: 15, total_tests: 15 },
    },
    ...{ nist_score: 1, nist_grade: HOSTILE, [HOSTILE]: HOSTILE },
  };
}

function plainKey() {
  const key = Buffer.from(makeKeyId()).toString('hex').repeat(2);
  return { ...facts(), key, hash_proof: HOSTILE };
}

function deliveryAnswer(path: string) {
  const one = { delivery_id: DELIVERY_ID, key_id: facts().key_id, until: TIME };
  const recipients = [{ recipient: HOSTILE, state: HOSTILE, received_at: TIME }];
  if (path.endsWith(DELIVERY_ID)) return { delivery: { ...one, recipients } };
  if (path.endsWith('/remove')) return { deliveries: [{ ...one, state: HOSTILE }] };
  return { deliveries: [{ ...one, [HOSTILE]: HOSTILE }], next_cursor: null };
}

/** Returns the answer to a request for version 2 of the API. */
async function fittingAnswer(path: string, request: IncomingMessage, recipient: string) {
  const body = await text(request);
  const [, keyId = ''] = /\/(phm_\d+)/.exec(path) ?? [];
  const key = recordOf(keyId);
  const always = { success: true, timestamp: TIME };
  if (path.endsWith('/generate')) return { ...always, ...plainKey() };
  if (path.endsWith('/generate/sealed')) {
    const made = facts();
    return { ...always, ...made, ...(await sealAnswer(recipient, made.key_id)).answer };
  }
  if (path.endsWith('/generate/batch')) {
    const { count } = JSON.parse(body) as { count: number };
    return { ...always, count, keys: Array.from({ length: count }, plainKey) };
  }
  if (path.endsWith('/validate')) {
    const checks = { key_format: HOSTILE, entropy_check: HOSTILE, proof_verification: HOSTILE };
    return { ...always, valid: true, validation_details: { ...checks, [HOSTILE]: HOSTILE } };
  }
  if (path.endsWith('/receipt')) {
    const said = { type: HOSTILE, service: HOSTILE, key_commitment: HOSTILE, salt: HOSTILE };
    const statement = { ...said, key_id: keyId, time: TIME, [HOSTILE]: HOSTILE };
    return { ...always, receipt: { statement, proof: HOSTILE } };
  }
  if (path.endsWith('/revoke')) return { ...always, key: { ...key, status: 'deactivated' } };
  if (path.endsWith('/metrics')) {
    const usage = { total_usage: 1, api_key_count: 1, [HOSTILE]: HOSTILE };
    return { ...always, metrics: { performance: PERFORMANCE, usage } };
  }
  if (path.endsWith('/metrics/series')) {
    const series = { step_minutes: 1, start: TIME, end: TIME, points: [], [HOSTILE]: HOSTILE };
    return { ...always, series };
  }
  if (path.includes('/deliveries')) return { ...always, ...deliveryAnswer(path) };
  if (keyId !== '') return { ...always, key };
  const ids = [facts().key_id, facts().key_id];
  const labels = { ...key.labels, env: 'prod' };
  return { ...always, keys: ids.map((id) => ({ ...recordOf(id), labels })), next_cursor: null };
}
