/** Counts, times and traces requests, if the operator has enabled metrics or traces. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AppError } from '../errors.ts';
import type { StageListener } from '../service/index.ts';
import {
  type CountedEvents,
  parseTraceparent,
  type RequestTrace,
  type ServiceMetrics,
  type Tracing,
} from '../telemetry/index.ts';

export interface Telemetry {
  readonly metrics?: ServiceMetrics | null;
  readonly tracing?: Tracing | null;
}

interface ObserverOptions extends Telemetry {
  readonly basePath: string;
}

/** Folders of files whose names change with releases. The metrics count each folder as one route. */
const FILES = ['/assets/', '/docs/'];

export class RequestObserver {
  /** Counts what happens; null without metrics. */
  readonly events: CountedEvents | null;
  readonly #tracing: Tracing | null;
  readonly #folders: readonly string[];
  readonly #traces = new WeakMap<IncomingMessage, RequestTrace>();

  constructor({ metrics, tracing, basePath }: ObserverOptions) {
    this.#folders = FILES.map((folder) => `${basePath}${folder}`);
    this.events = metrics?.events ?? null;
    this.#tracing = tracing ?? null;
  }

  /** Starts the trace of a request, if traces are on. Returns the fields for its log lines. */
  begin(request: IncomingMessage, requestId: string): { readonly trace_id?: string } {
    const trace = this.#tracing?.begin(request, requestId);
    if (trace) this.#traces.set(request, trace);
    const traceId = trace?.traceId ?? parseTraceparent(request.headers.traceparent)?.traceId;
    return traceId === undefined ? {} : { trace_id: traceId };
  }

  /** Returns the listener for the stages of a request; undefined if it is not traced. */
  stages({ raw }: FastifyRequest): StageListener | undefined {
    return this.#tracing ? this.#traces.get(raw)?.onStage : undefined;
  }

  /** Counts a problem. `request` is undefined if it never reached the framework. */
  problem({ code, details }: AppError, request?: FastifyRequest): void {
    this.events?.problem(code);
    if (!request) return;
    request.problem = code;
    request.ownShare = details.ownShare ?? false;
  }

  /** Ends the trace of a request for which no hook runs. */
  unrouted(request: FastifyRequest, status: number): void {
    this.#end(request, undefined, status);
  }

  /** Adds its hooks. It sees only routes that are added later. */
  attach(app: FastifyInstance): void {
    app.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat()) {
        if (one !== 'HEAD' && this.#label(url) === url) this.events?.routeAdded(one, url);
      }
    });
    if (this.#tracing) {
      app.addHook('onRequest', (request, reply, done) => {
        reply.raw.once('close', () => this.#end(request, request.routeOptions.url, undefined));
        done();
      });
    }
    if (!this.events && !this.#tracing) return;
    app.addHook('onResponse', (request, reply, done) => {
      const { method, routeOptions, ownShare, isPlainKey } = request;
      const { statusCode: status, elapsedTime: ms } = reply;
      const route = this.#label(routeOptions.url);
      this.events?.answered({ method, route, status, ms, ownShare, isPlainKey });
      this.#end(request, routeOptions.url, status);
      done();
    });
  }

  /** Returns the name of a route in the metrics. */
  #label(url: string | undefined): string | undefined {
    const folder = this.#folders.find((one) => url?.startsWith(one));
    return folder === undefined ? url : `${folder}*`;
  }

  #end(request: FastifyRequest, route: string | undefined, status?: number): void {
    if (!this.#tracing) return;
    const { raw, problem, principal } = request;
    const { accountId, apiKeyId } = principal ?? {};
    const how = { route, status, problem: problem ?? undefined, accountId, apiKeyId };
    this.#traces.get(raw)?.end(how);
  }
}
