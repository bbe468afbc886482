/**
 * Jobs of the sampler primitive on IBM Quantum, over REST.
 *
 * IBM Quantum Compute Service REST API, Jobs, version 2026-04-15:
 * https://quantum.cloud.ibm.com/docs/api/qiskit-runtime-rest/tags/jobs
 */
import Type from 'typebox';
import { Check } from 'typebox/value';
import {
  type JsonRequest,
  RequestFailure,
  requestJson,
  type Service,
  unknownForm,
} from './_json-request.ts';
import type { IamToken } from './ibm-iam.ts';
import { readShots } from './sampler-result.ts';

// A shot is "0xff", a comma and perhaps a space: far below 16 bytes. Metadata comes on top.
const MAX_BYTES_PER_SHOT = 16;
const MAX_METADATA_BYTES = 65_536;

/**
 * Processor time in seconds after which the service ends a job, so that a defect cannot spend an
 * hour.
 */
const MAX_QUANTUM_SECONDS = 60;

const SERVICE: Service = {
  name: 'IBM Quantum',
  credentials: 'PHM_IBM_API_KEY and PHM_IBM_SERVICE_CRN',
  address: 'PHM_IBM_URL',
};

const CreatedJob = Type.Object({ id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }) });
const JobDetails = Type.Object({ state: Type.Object({ status: Type.String({ maxLength: 64 }) }) });

type JobState = 'waiting' | 'completed' | 'failed' | 'cancelled';

/** States by the first word of the status, because `Cancelled - Ran too long` has been seen. */
const FINAL_STATES = new Map<string, JobState>([
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
]);

interface JobSettings {
  readonly serviceCrn: string;
  readonly backend: string;
  /** Checked by `serviceUrl`. */
  readonly url: string;
  readonly apiVersion: string;
  readonly shots: number;
}

type RequestDetails = Pick<JsonRequest, 'body' | 'timeoutMs' | 'maxBytes' | 'signal'>;

export class IbmJobs {
  readonly #settings: JobSettings;
  readonly #token: IamToken;

  constructor(settings: JobSettings, token: IamToken) {
    this.#settings = settings;
    this.#token = token;
  }

  /** Fetches a token if there is none. */
  async authenticate(signal: AbortSignal): Promise<void> {
    await this.#token.get(signal);
  }

  /** Submits one run of the circuit and resolves to the job ID. It cannot be stopped. */
  async create(circuit: string, timeoutMs: number): Promise<string> {
    const { signal } = new AbortController();
    const { backend, shots } = this.#settings;
    const body = JSON.stringify({
      program_id: 'sampler',
      backend,
      cost: MAX_QUANTUM_SECONDS,
      // The service does not keep the parameters, and deletes the shots once they are read.
      private: true,
      params: { version: 2, pubs: [[circuit, null, shots]] },
    });
    const answer = await this.#request('POST', '/jobs', { body, timeoutMs, signal }).catch(
      explainUsageLimit,
    );
    if (!Check(CreatedJob, answer)) throw unknownForm(SERVICE, 'the new job');
    return answer.id;
  }

  async state(id: string, timeoutMs: number, signal: AbortSignal): Promise<JobState> {
    const answer = await this.#request('GET', `/jobs/${id}`, { timeoutMs, signal });
    if (!Check(JobDetails, answer)) throw unknownForm(SERVICE, 'the state of a job');
    const [word = ''] = answer.state.status.toLowerCase().split(' ');
    return FINAL_STATES.get(word) ?? 'waiting';
  }

  /** Returns the shots in the order of the service, with qubit 0 in the least significant bit. */
  async shots(id: string, timeoutMs: number, signal: AbortSignal): Promise<Uint8Array> {
    const maxBytes = this.#settings.shots * MAX_BYTES_PER_SHOT + MAX_METADATA_BYTES;
    const answer = await this.#request('GET', `/jobs/${id}/results`, {
      timeoutMs,
      maxBytes,
      signal,
    });
    const read = readShots(answer, this.#settings.shots);
    if (read === null) throw unknownForm(SERVICE, 'the results of a job');
    return read;
  }

  /** Asks the service to cancel a job. `timeoutMs` covers all requests. */
  async cancel(id: string, timeoutMs: number): Promise<void> {
    const signal = AbortSignal.timeout(timeoutMs);
    await this.#request('POST', `/jobs/${id}/cancel`, { timeoutMs, signal });
  }

  /** Replaces a refused token once, because it may have been revoked early. */
  async #request(method: 'GET' | 'POST', path: string, rest: RequestDetails): Promise<unknown> {
    const token = await this.#token.get(rest.signal);
    try {
      return await this.#send(token, method, path, rest);
    } catch (error) {
      if (!(error instanceof RequestFailure) || error.status !== 401) throw error;
      this.#token.discard();
      return this.#send(await this.#token.get(rest.signal), method, path, rest);
    }
  }

  #send(
    token: string,
    method: 'GET' | 'POST',
    path: string,
    rest: RequestDetails,
  ): Promise<unknown> {
    const { url, serviceCrn, apiVersion } = this.#settings;
    return requestJson({
      service: SERVICE,
      url: `${url}${path}`,
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'service-crn': serviceCrn,
        'ibm-api-version': apiVersion,
        ...(rest.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...rest,
    });
  }
}

/** IBM documents 409 on a new job as `Usage exceeds instance limit`. */
function explainUsageLimit(error: unknown): never {
  if (!(error instanceof RequestFailure) || error.status !== 409) throw error;
  const { name } = SERVICE;
  throw new RequestFailure(
    `${name} accepts no job (409): the instance has reached its usage limit; raise it or wait`,
    error.status,
    error.retryAfterMs,
  );
}
