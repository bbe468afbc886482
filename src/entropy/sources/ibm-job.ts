/**
 * One job on IBM Quantum, from submission to its shots.
 *
 * A submission in transit cannot be taken back. A caller that stops waiting gets a rejection at
 * once, and `cancel` waits for the job ID to cancel a job that was queued in the meantime.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { NoiseFailure } from '../noise.ts';
import { RequestFailure } from './_json-request.ts';
import { NATIVE_CIRCUIT } from './circuit.ts';
import type { IbmJobs } from './ibm-jobs.ts';

export interface JobLimits {
  /** Timeout of one request. */
  readonly requestMs: number;
  readonly firstPollMs: number;
  readonly longestPollMs: number;
  readonly cancelMs: number;
  /**
   * Number of consecutive failed requests, each for a reason that may pass, after which a job is
   * given up.
   */
  readonly failuresInRow: number;
}

const POLL_GROWTH = 1.5;

export class IbmJob {
  /** Resolves to the job ID when the service has accepted the job. */
  readonly id: Promise<string>;
  readonly #jobs: IbmJobs;
  readonly #limits: JobLimits;
  readonly #stop: AbortSignal;
  #finished = false;

  /** Submits the job. After `stop` aborts, only `cancel` sends anything. */
  constructor(jobs: IbmJobs, limits: JobLimits, stop: AbortSignal) {
    this.#jobs = jobs;
    this.#limits = limits;
    this.#stop = stop;
    this.id = this.#submit();
    // A caller that awaits the ID gets the failure. Without one, Node must not report an unhandled
    // rejection.
    this.id.catch(() => {});
  }

  /** Returns the shots. Rejects with `NoiseFailure`, and always soon after `stop` aborts. */
  async shots(): Promise<Uint8Array> {
    const id = await this.#unlessStopped(this.id);
    await this.#completion(id);
    return this.#patiently(() => this.#jobs.shots(id, this.#limits.requestMs, this.#stop));
  }

  /**
   * Cancels the job unless it is finished. It never rejects, because nothing can be done about a
   * failure.
   */
  async cancel(): Promise<void> {
    if (this.#finished) return;
    try {
      const id = await this.id;
      await this.#jobs.cancel(id, this.#limits.cancelMs);
    } catch {
      // There is no job, it has just finished (409), or the service does not answer.
    }
  }

  async #submit(): Promise<string> {
    const { requestMs } = this.#limits;
    await this.#jobs.authenticate(this.#stop);
    return this.#jobs.create(NATIVE_CIRCUIT, requestMs);
  }

  async #completion(id: string): Promise<void> {
    const { requestMs, firstPollMs, longestPollMs } = this.#limits;
    for (let waitMs = firstPollMs; ; waitMs = Math.min(waitMs * POLL_GROWTH, longestPollMs)) {
      await this.#pause(waitMs);
      const state = await this.#patiently(() => this.#jobs.state(id, requestMs, this.#stop));
      if (state === 'waiting') continue;
      this.#finished = true;
      if (state === 'completed') return;
      throw new NoiseFailure(
        `IBM Quantum ended a job as ${state}: its page on the platform shows the reason`,
      );
    }
  }

  /** Retries a request. A job may queue for hours, so one failed request does not give it up. */
  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    const { firstPollMs, longestPollMs, failuresInRow } = this.#limits;
    for (let failures = 1; ; failures++) {
      try {
        return await ask();
      } catch (error) {
        const mayPass = error instanceof RequestFailure && error.mayPass;
        if (!mayPass || this.#stop.aborted || failures >= failuresInRow) throw error;
        const waitMs = Math.min(firstPollMs * 2 ** failures, longestPollMs);
        await this.#pause(Math.max(waitMs, error.retryAfterMs ?? 0));
      }
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop }).catch(() => {
      throw stopped();
    });
  }

  #unlessStopped<T>(promise: Promise<T>): Promise<T> {
    const stop = this.#stop;
    return new Promise((resolve, reject) => {
      const onStop = () => reject(stopped());
      stop.addEventListener('abort', onStop, { once: true });
      promise.then(resolve, reject).finally(() => stop.removeEventListener('abort', onStop));
    });
  }
}

function stopped(): NoiseFailure {
  return new NoiseFailure('waiting for a job of IBM Quantum was stopped');
}
