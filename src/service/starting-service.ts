/** The key service for callers that may come before it runs: the server can listen while startup waits. */
import { AppError } from '../errors.ts';
import { absentLog, type LogApi } from './log/api.ts';
import type { ServiceLoad } from './observer.ts';
import { STARTING } from './readiness.ts';
import type { KeyService } from './service.ts';

/** The part of a key service that HTTP and metrics use. */
export type KeyApi = Pick<
  KeyService,
  | 'authenticate'
  | 'checkReadiness'
  | 'deliveries'
  | 'generate'
  | 'load'
  | 'log'
  | 'activity'
  | 'noteUse'
  | 'quotaNowMs'
  | 'randomness'
  | 'records'
  | 'refuseAnswer'
  | 'refuseUnsound'
  | 'series'
  | 'usageOf'
  | 'validate'
>;

/** Seconds after which a client should retry, here or on another server. */
const RETRY_AFTER_SECONDS = 5;

const STARTING_LOG = absentLog('starting');

const NO_LOAD: ServiceLoad = { queues: [], generators: 0, reseeds: 0 };

/** Refuses every request with `ledger_unavailable` and is not ready until `started` provides the service. */
export class StartingService implements KeyApi {
  #service: KeyService | null = null;

  /** Forwards all further calls to the service. */
  started(service: KeyService): void {
    this.#service = service;
  }

  readonly authenticate: KeyApi['authenticate'] = (...all) => this.#get().authenticate(...all);
  readonly generate: KeyApi['generate'] = (...all) =>
    this.#service ? this.#service.generate(...all) : Promise.reject(stillStarting());
  readonly refuseUnsound: KeyApi['refuseUnsound'] = (outcome) => this.#get().refuseUnsound(outcome);
  readonly refuseAnswer: KeyApi['refuseAnswer'] = () => this.#get().refuseAnswer();
  readonly activity: KeyApi['activity'] = async (...all) => this.#get().activity(...all);
  readonly randomness: KeyApi['randomness'] = async (...all) => this.#get().randomness(...all);
  readonly series: KeyApi['series'] = async (...all) => this.#get().series(...all);
  readonly validate: KeyApi['validate'] = (...all) =>
    this.#service ? this.#service.validate(...all) : Promise.reject(stillStarting());
  readonly noteUse: KeyApi['noteUse'] = (principal) => this.#service?.noteUse(principal);
  readonly usageOf: KeyApi['usageOf'] = (principal) => this.#get().usageOf(principal);
  readonly quotaNowMs: KeyApi['quotaNowMs'] = () => this.#get().quotaNowMs();
  /** Resolves with null before the service runs. */
  readonly databaseBytes = async (): Promise<number | null> =>
    this.#service?.databaseBytes() ?? null;
  readonly clockReading = () => this.#service?.clockReading() ?? null;
  readonly databaseHost = () => this.#service?.databaseHost() ?? null;
  readonly checkReadiness: KeyApi['checkReadiness'] = () =>
    this.#service?.checkReadiness() ?? STARTING;
  /** Resolves at once before the service runs, because there is no thread to ask. */
  readonly ping = (): Promise<void> => this.#service?.ping() ?? Promise.resolve();
  readonly load: KeyApi['load'] = () => this.#service?.load() ?? NO_LOAD;

  get log(): LogApi {
    return this.#service?.log ?? STARTING_LOG;
  }

  get deliveries(): KeyApi['deliveries'] {
    return this.#get().deliveries;
  }

  get records(): KeyApi['records'] {
    return this.#get().records;
  }

  #get(): KeyService {
    if (this.#service) return this.#service;
    throw stillStarting();
  }
}

function stillStarting(): AppError {
  return new AppError('ledger_unavailable', {
    reason: 'startup is waiting for the database',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
