/** Traces with OpenTelemetry's SDK. `tracing.ts` loads this module only if traces are on. */
import type { IncomingMessage } from 'node:http';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, TraceState } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { monotonicMs } from '../clock.ts';
import { PROJECT_VERSION } from '../process/version.ts';
import type { StageListener } from '../service/index.ts';
import { METHODS } from './methods.ts';
import type { ExportListener, RequestEnd, RequestTrace, Tracing } from './request-trace.ts';
import { parseTraceparent } from './traceparent.ts';
import type { TracingSettings } from './tracing-settings.ts';

/** Service name unless a variable sets another. */
const SERVICE_NAME = 'phm-key-service';

/** `error.type` of a request whose client left before the answer. */
const CLIENT_LEFT = 'client_left';

export class OtelTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #honoursCaller: boolean;

  constructor(settings: TracingSettings, onExport: ExportListener) {
    const inner = settings.protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
    const exporter = new WatchedExporter(inner, onExport);
    this.#provider = new TracerProvider({
      resource: readResource(),
      sampler: openSampler(settings),
      spanProcessors: [new BatchSpanProcessor({ exporter, ...given(settings.batch) })],
    });
    this.#tracer = this.#provider.getTracer(SERVICE_NAME, PROJECT_VERSION);
    this.#honoursCaller = settings.honoursCaller;
  }

  begin(request: IncomingMessage, requestId: string): RequestTrace {
    const known = METHODS.find((one) => one === request.method);
    const name = known ?? 'HTTP';
    const span = this.#tracer.startSpan(
      name,
      {
        kind: SpanKind.SERVER,
        attributes: {
          'http.request.method': known ?? '_OTHER',
          'url.scheme': 'encrypted' in request.socket ? 'https' : 'http',
          'network.protocol.version': request.httpVersion,
          'phm.request_id': requestId,
        },
      },
      this.#honoursCaller ? callerContext(request) : ROOT_CONTEXT,
    );
    return new SpanTrace(this.#tracer, span, name);
  }

  async close(limitMs: number): Promise<boolean> {
    const done = this.#provider.shutdown().then(
      () => true,
      () => true,
    );
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), limitMs);
    });
    const inTime = await Promise.race([done, late]);
    clearTimeout(timer);
    return inTime;
  }
}

class SpanTrace implements RequestTrace {
  readonly traceId: string;
  readonly onStage: StageListener | undefined;
  readonly #span: Span;
  readonly #name: string;
  #ended = false;

  constructor(tracer: Tracer, span: Span, name: string) {
    this.#span = span;
    this.#name = name;
    this.traceId = span.spanContext().traceId;
    if (!span.isRecording()) return;
    const parent = trace.setSpan(ROOT_CONTEXT, span);
    const toEpochMs = Date.now() - monotonicMs();
    this.onStage = (stage, startMs, endMs) => {
      tracer.startSpan(stage, { startTime: startMs + toEpochMs }, parent).end(endMs + toEpochMs);
    };
  }

  end({ route, status, problem, accountId, apiKeyId }: RequestEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    const span = this.#span;
    if (route !== undefined) {
      span.setAttribute('http.route', route);
      // The raw path of an unknown route may hold anything. Known routes without parameters equal their path.
      if (!/[:*]/.test(route)) span.setAttribute('url.path', route);
      span.updateName(`${this.#name} ${route}`);
    }
    if (status !== undefined) span.setAttribute('http.response.status_code', status);
    if (problem !== undefined) span.setAttribute('phm.problem', problem);
    if (accountId !== undefined) span.setAttribute('phm.account_id', accountId);
    if (apiKeyId !== undefined) span.setAttribute('phm.api_key_id', apiKeyId);
    // By the semantic conventions, a 4xx answer is not a server error.
    if (status === undefined || status >= 500) {
      span.setAttribute('error.type', problem ?? status?.toString() ?? CLIENT_LEFT);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    span.end();
  }
}

/** Returns the context of the parent span that the caller names. Ignores malformed headers. */
function callerContext({ headers }: IncomingMessage): Context {
  const parent = parseTraceparent(headers.traceparent);
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = parent;
  const { tracestate } = headers;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags & 1,
    isRemote: true,
    ...(typeof tracestate === 'string' && { traceState: new TraceState(tracestate) }),
  });
}

/**
 * Returns the resource: OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME override the defaults. A random
 * `service.instance.id` distinguishes servers with the same name.
 */
function readResource(): Resource {
  return defaultResource()
    .merge(
      resourceFromAttributes({ 'service.name': SERVICE_NAME, 'service.version': PROJECT_VERSION }),
    )
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }));
}

function openSampler({ sampler, ratio }: TracingSettings): Sampler {
  const name = sampler.replace(/^parentbased_/, '');
  const root =
    name === 'traceidratio'
      ? new TraceIdRatioBasedSampler(ratio)
      : name === 'always_off'
        ? new AlwaysOffSampler()
        : new AlwaysOnSampler();
  return sampler === name ? root : new ParentBasedSampler({ root });
}

/** Drops undefined settings, because the SDK would use `undefined` as a value. */
function given<T extends object>(settings: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** Reports once when exports fail, and once when they work again. */
class WatchedExporter implements SpanExporter {
  readonly #inner: SpanExporter;
  readonly #onExport: ExportListener;
  #failing = false;

  constructor(inner: SpanExporter, onExport: ExportListener) {
    this.#inner = inner;
    this.#onExport = onExport;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#inner.export(spans, (result) => {
      const failing = result.code !== ExportResultCode.SUCCESS;
      if (failing !== this.#failing) {
        this.#failing = failing;
        this.#onExport(failing ? nameFailure(result.error) : null);
      }
      done(result);
    });
  }

  forceFlush(): Promise<void> {
    return this.#inner.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }
}

/** Names the kind of failure. The message could hold an address with credentials, or an answer. */
export function nameFailure(error: Error | undefined): string {
  const code = error && 'code' in error ? String(error.code) : '';
  return /^[A-Z0-9_]{1,64}$/.test(code) ? code : (error?.name ?? 'no reason given');
}
