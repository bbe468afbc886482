/**
 * A program as users of openapi-typescript and openapi-fetch write it, in strict TypeScript. `schema.ts` is
 * generated beside it. It calls the service and prints what it got, from named types alone.
 */
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.ts';

type GeneratedKey = components['schemas']['GeneratedKey'];
type ValidationResult = components['schemas']['ValidationResult'];
type Metrics = components['schemas']['Metrics'];
type Problem = components['schemas']['Problem'];

const [baseUrl = '', apiKey = ''] = process.argv.slice(2);
const clientOf = (key: string) => createClient<paths>({ baseUrl, headers: { 'X-API-Key': key } });
const api = clientOf(apiKey);
const POST_KEY = '/api/v2/generate';

const key: GeneratedKey = present(
  await api.POST(POST_KEY, { body: { security_level: 256, enable_nist_validation: true } }),
);
const validation: ValidationResult = present(
  await api.POST('/api/v2/validate', { body: { key: key.key, hash_proof: key.hash_proof } }),
);
const metrics: Metrics = present(
  await api.GET('/api/v2/metrics', { params: { query: { hours: 1 } } }),
);

// @ts-expect-error: there is no such level, and the types say so.
const refused = await api.POST(POST_KEY, { body: { security_level: 512 } });
const stranger = await clientOf('phmsk_demo_unknown').GET('/api/v2/metrics');
const starved = await api.POST(POST_KEY, {
  body: { security_level: 256, entropy_source: 'device' },
});
const problems: Problem[] = [refused, stranger, starved, await untilLimited()].map(absent);

console.log(
  JSON.stringify({
    security_level: key.security_level,
    tests_passed: key.nist_validation?.tests_passed,
    valid: validation.valid,
    proof_verification: validation.validation_details.proof_verification,
    total_keys_generated: metrics.metrics.performance.total_keys_generated,
    problems: problems.map(({ status, code, errors = [] }) => ({
      status,
      code,
      pointers: errors.map(({ pointer }) => pointer),
    })),
  }),
);

/** Calls until the bucket of the API key is empty. */
async function untilLimited() {
  for (let calls = 0; calls < 200; calls++) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => api.GET('/api/v2/metrics')));
    const limited = answers.find(({ response }) => response.status === 429);
    if (limited) return limited;
  }
  throw new Error('the rate limit was never met');
}

function present<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(`expected an answer, got ${JSON.stringify(error)}`);
  return data;
}

function absent({ error }: { error?: Problem }): Problem {
  if (error === undefined) throw new Error('expected a problem, got an answer');
  return error;
}
