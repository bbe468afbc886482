/**
 * A reader of quantum hardware: the prime-phase circuit as jobs on IBM Quantum, over REST.
 *
 * One batch is one job. A job costs the account processor time, so a job that is no longer awaited
 * is cancelled.
 */

import { wipe } from '../../bytes.ts';
import { HOUR_MS, MINUTE_MS } from '../../clock.ts';
import { type NoiseBatch, NoiseFailure, type NoiseReader } from '../noise.ts';
import { assertHeaderValue, serviceUrl } from './_json-request.ts';
import { IamToken } from './ibm-iam.ts';
import { IbmJob, type JobLimits } from './ibm-job.ts';
import { IbmJobs } from './ibm-jobs.ts';
import { toQubitMajor } from './sampler-result.ts';
import { extractVonNeumann } from './von-neumann.ts';

const IBM_QUANTUM_URL = 'https://quantum.cloud.ibm.com/api/v1';
const IBM_IAM_URL = 'https://iam.cloud.ibm.com/identity/token';

/** The newest version in the changelog of the REST API, which IBM's own client also sends. */
const IBM_API_VERSION = '2026-04-15';

/** Fewest shots that safely make a draw: the extractor drops half the pairs of an even coin. */
const MIN_SHOTS = 256;
/** A usual limit. The true one is a property of the processor. */
export const MAX_SHOTS = 100_000;

export interface IbmQuantumSettings {
  readonly apiKey: string;
  readonly serviceCrn: string;
  /** The name of a processor with at least eight qubits. */
  readonly backend: string;
  readonly url?: string;
  readonly iamUrl?: string;
  /** A date, sent as `IBM-API-Version`. */
  readonly apiVersion?: string;
  /** Shots a job, an even number, because the extractor pairs the shots of one qubit. */
  readonly shots: number;
}

export interface IbmQuantumLimits extends JobLimits {
  /** From submission to results. Processor queues can take hours. */
  readonly jobMs: number;
}

export const IBM_QUANTUM_LIMITS: IbmQuantumLimits = {
  requestMs: 30_000,
  jobMs: 12 * HOUR_MS,
  firstPollMs: 2_000,
  longestPollMs: MINUTE_MS,
  cancelMs: 5_000,
  failuresInRow: 5,
};

/**
 * Opens the reader. The first `read` sends the first request. Throws `RangeError` and `TypeError`.
 */
export function openIbmQuantum(
  settings: IbmQuantumSettings,
  limits: IbmQuantumLimits = IBM_QUANTUM_LIMITS,
): NoiseReader {
  const { apiKey, serviceCrn, backend, shots, apiVersion = IBM_API_VERSION } = settings;
  assertHeaderValue('apiKey', apiKey);
  assertHeaderValue('serviceCrn', serviceCrn);
  assertHeaderValue('backend', backend);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(apiVersion)) {
    throw new RangeError('"apiVersion" expected a date such as 2026-04-15');
  }
  if (!Number.isInteger(shots) || shots % 2 !== 0 || shots < MIN_SHOTS || shots > MAX_SHOTS) {
    throw new RangeError(
      `"shots" expected an even integer from ${MIN_SHOTS} to ${MAX_SHOTS}, got ${shots}`,
    );
  }
  const url = serviceUrl('url', settings.url ?? IBM_QUANTUM_URL);
  const iamUrl = serviceUrl('iamUrl', settings.iamUrl ?? IBM_IAM_URL);
  const token = new IamToken({ apiKey, iamUrl, timeoutMs: limits.requestMs });
  const jobs = new IbmJobs({ serviceCrn, backend, url, apiVersion, shots }, token);
  return new IbmQuantumReader(jobs, limits);
}

class IbmQuantumReader implements NoiseReader {
  readonly bitsPerSample = 1;
  /**
   * A claim for monitoring the raw readout of one qubit: no outcome is more probable than 0.71.
   * Errors of readout and relaxation shift an even coin by a few per cent, to about 0.9 bit. Below
   * half a bit the qubit is defective, and the health tests must detect it.
   */
  readonly minEntropyPerSample = 0.5;
  /**
   * 320 bits. They are even coins if the shots of one qubit are independent and its bias is
   * constant. A bias that drifts by δ between two shots costs about 3 δ bit of each, so there are
   * 64 bits more.
   */
  readonly bytesPerDraw = 40;
  readonly #jobs: IbmJobs;
  readonly #limits: IbmQuantumLimits;
  readonly #closed = new AbortController();
  #reading: Promise<unknown> = Promise.resolve();
  #cancelling: Promise<unknown> = Promise.resolve();

  constructor(jobs: IbmJobs, limits: IbmQuantumLimits) {
    this.#jobs = jobs;
    this.#limits = limits;
  }

  read(signal: AbortSignal): Promise<NoiseBatch> {
    const reading = this.#readJob(signal);
    this.#reading = reading.catch(() => {});
    return reading;
  }

  extract(samples: Uint8Array): Uint8Array {
    return extractVonNeumann(samples);
  }

  /** Waits for cancellations in progress, at most for the timeouts of their requests. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#reading;
    await this.#cancelling;
  }

  async #readJob(signal: AbortSignal): Promise<NoiseBatch> {
    const deadline = AbortSignal.timeout(this.#limits.jobMs);
    const stop = AbortSignal.any([signal, this.#closed.signal, deadline]);
    if (stop.aborted) throw new NoiseFailure('the source was stopped before it sent a job');
    const job = new IbmJob(this.#jobs, this.#limits, stop);
    try {
      const shots = await job.shots();
      const samples = toQubitMajor(shots);
      wipe(shots);
      return { samples, jobId: await job.id };
    } catch (error) {
      this.#cancelling = Promise.all([this.#cancelling, job.cancel()]);
      throw deadline.aborted ? tooLate(this.#limits.jobMs) : error;
    }
  }
}

function tooLate(jobMs: number): NoiseFailure {
  const hours = Number((jobMs / HOUR_MS).toPrecision(2));
  return new NoiseFailure(
    `IBM Quantum did not finish a job within ${hours} hours: choose a backend with a shorter queue`,
  );
}
