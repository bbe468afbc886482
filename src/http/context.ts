/** The parts of the application that routes and pages use. */
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
  /** Source of keys whose request names no source, and the sources that a request may name. */
  readonly entropySource: string;
  readonly entropySources: readonly string[];
  /** Prefix of all paths, such as `/phm`; empty for the root. */
  readonly basePath: string;
  /** Folder of the built dashboard. Without `index.html` in it the server has no dashboard. */
  readonly dashboardFolder: string;
  /** True once the process is shutting down. */
  readonly isDraining: () => boolean;
  /** Identifies the data directory, so that the command line recognises a server that uses the same one. */
  readonly directoryId: string;
}
