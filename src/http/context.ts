/** What routes and pages get from the application: what they serve, and the parts that all requests share. */
import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../clock.ts';
import type { KeyApi } from '../service/index.ts';
import type { Authenticator } from './authenticate.ts';
import type { RequestObserver } from './observe.ts';

export interface RouteContext {
  readonly service: KeyApi;
  readonly clock: Clock;
  readonly logger: FastifyBaseLogger;
  readonly authenticator: Authenticator;
  readonly observer: RequestObserver;
  /** Source of keys whose request names none, and the sources a request may name. */
  readonly entropySource: string;
  readonly entropySources: readonly string[];
  /** Path before all addresses, such as `/phm`; empty: the root. */
  readonly basePath: string;
  /** Folder of the built dashboard; without `index.html` in it the server has no dashboard. */
  readonly dashboardFolder: string;
  /** True once the process has been told to end. */
  readonly isDraining: () => boolean;
  /** Identifies the data directory: by it the command line recognises a server that uses the same one. */
  readonly directoryId: string;
}
