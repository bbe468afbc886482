/**
 * Traces by OpenTelemetry's own variables. They are on when an exporter or an endpoint is named; only
 * then are its packages loaded (`otel.ts`), which read endpoint, headers, timeouts and resource
 * attributes from the environment themselves.
 */
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { StageListener } from '../service/index.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How a traced request ended. */
export interface RequestEnd {
  /** A route's template; undefined when there is none. */
  readonly route: string | undefined;
  /** Undefined when the client left before its answer. */
  readonly status: number | undefined;
  /** The code of the problem that was answered, if one was. */
  readonly problem: string | undefined;
}

/** The server span of one request. */
export interface RequestTrace {
  readonly traceId: string;
  /** Makes child spans; undefined when the request is not sampled. */
  readonly onStage: StageListener | undefined;
  /** Ends the span; only the first call counts. */
  end(how: RequestEnd): void;
}

export interface Tracing {
  begin(request: IncomingMessage, requestId: string): RequestTrace;
  /** Exports what is left. False when that took longer than `limitMs` and was given up. */
  close(limitMs: number): Promise<boolean>;
}

/** What the SDK does not read from the environment by itself. */
export interface TracingSettings {
  readonly protocol: (typeof PROTOCOLS)[number];
  readonly sampler: (typeof SAMPLERS)[number];
  /** Share of traces that a ratio sampler takes, 0…1. */
  readonly ratio: number;
  /** Whether a caller's `traceparent` is the parent of the server span. */
  readonly honoursCaller: boolean;
  /** Undefined: the SDK's own. */
  readonly batch: Readonly<Record<keyof typeof BATCH_VARIABLES, number | undefined>>;
}

export interface TracingResult {
  /** Null: no traces. */
  readonly settings: TracingSettings | null;
  /** Values that cannot be used, by their variable. They may hold anything and are not quoted. */
  readonly warnings: readonly string[];
}

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

const BATCH_VARIABLES = {
  scheduledDelayMillis: 'OTEL_BSP_SCHEDULE_DELAY',
  exportTimeoutMillis: 'OTEL_BSP_EXPORT_TIMEOUT',
  maxQueueSize: 'OTEL_BSP_MAX_QUEUE_SIZE',
  maxExportBatchSize: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
} as const;

/** What names a PEM file; the SDK passes over one that it cannot read. */
const FILES = ['CERTIFICATE', 'CLIENT_KEY', 'CLIENT_CERTIFICATE'];

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];

/** Reads the variables and tries the files. What cannot be used is a warning: traces MUST NOT keep a server from starting. */
export function readTracing(env: Environment): TracingResult {
  const warnings: string[] = [];
  const text = (name: string) => env[name]?.trim() ?? '';
  const endpoint = ENDPOINTS.find((name) => text(name) !== '');
  const exporter = text('OTEL_TRACES_EXPORTER').toLowerCase();
  if (text('OTEL_SDK_DISABLED').toLowerCase() === 'true') return { settings: null, warnings };
  if (exporter === 'none' || (exporter === '' && !endpoint)) return { settings: null, warnings };
  if (exporter !== '' && exporter !== 'otlp') {
    warnings.push('OTEL_TRACES_EXPORTER: use otlp or none; there are no traces');
    return { settings: null, warnings };
  }
  if (endpoint && !/^https?:$/.test(URL.parse(text(endpoint))?.protocol ?? '')) {
    warnings.push(`${endpoint} is no http:// or https:// address; there are no traces`);
    return { settings: null, warnings };
  }
  const protocol = readProtocol(text);
  if (!protocol) {
    warnings.push(
      `OTEL_EXPORTER_OTLP_PROTOCOL: use ${PROTOCOLS.join(' or ')}; there are no traces`,
    );
    return { settings: null, warnings };
  }
  warnOfFiles(text, warnings);
  const propagators = text('OTEL_PROPAGATORS').split(',');
  const settings: TracingSettings = {
    protocol,
    ...readSampler(text, warnings),
    honoursCaller: propagators.some((one) => ['', 'tracecontext'].includes(one.trim())),
    batch: readBatch(text, warnings),
  };
  return { settings, warnings };
}

type Text = (name: string) => string;

function readProtocol(text: Text): TracingSettings['protocol'] | undefined {
  const named = text('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') || text('OTEL_EXPORTER_OTLP_PROTOCOL');
  return named === '' ? PROTOCOLS[0] : PROTOCOLS.find((one) => one === named);
}

function readSampler(text: Text, warnings: string[]): Pick<TracingSettings, 'sampler' | 'ratio'> {
  const named = text('OTEL_TRACES_SAMPLER').toLowerCase();
  const sampler = named === '' ? SAMPLERS[0] : SAMPLERS.find((one) => one === named);
  if (!sampler) {
    warnings.push(`OTEL_TRACES_SAMPLER: use one of ${SAMPLERS.join(', ')}; the first one is taken`);
  }
  const argument = text('OTEL_TRACES_SAMPLER_ARG');
  const given = argument === '' ? 1 : Number(argument);
  const usable = given >= 0 && given <= 1;
  if (!usable && sampler?.endsWith('ratio')) {
    warnings.push('OTEL_TRACES_SAMPLER_ARG: use a number from 0 to 1; 1 is taken');
  }
  return { sampler: sampler ?? SAMPLERS[0], ratio: usable ? given : 1 };
}

/** The variable for traces goes before the one for all signals, as with the SDK. */
function warnOfFiles(text: Text, warnings: string[]): void {
  for (const file of FILES) {
    const names = [`OTEL_EXPORTER_OTLP_TRACES_${file}`, `OTEL_EXPORTER_OTLP_${file}`];
    const name = names.find((one) => text(one) !== '');
    if (name && !isReadable(text(name))) {
      warnings.push(`${name}: the file cannot be read; traces are sent without it`);
    }
  }
}

function isReadable(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}

function readBatch(text: Text, warnings: string[]): TracingSettings['batch'] {
  const read = (name: string) => {
    const given = text(name);
    if (given === '' || /^[1-9]\d{0,8}$/.test(given))
      return given === '' ? undefined : Number(given);
    warnings.push(`${name}: use a whole number above 0; the default is taken`);
    return undefined;
  };
  return {
    scheduledDelayMillis: read(BATCH_VARIABLES.scheduledDelayMillis),
    exportTimeoutMillis: read(BATCH_VARIABLES.exportTimeoutMillis),
    maxQueueSize: read(BATCH_VARIABLES.maxQueueSize),
    maxExportBatchSize: read(BATCH_VARIABLES.maxExportBatchSize),
  };
}

/** Told when the collector takes no traces, and with null when it takes them again. */
export type ExportListener = (failure: string | null) => void;

/** The log, as far as it is used here. */
export interface TracingLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/**
 * Begins traces where the environment asks for them; null where it does not, or where the SDK cannot
 * use what it finds there, which the log then says.
 */
export async function openTracing(env: Environment, log: TracingLog): Promise<Tracing | null> {
  const { settings, warnings } = readTracing(env);
  for (const reason of warnings) log.warn({ reason }, 'traces: a variable cannot be used');
  if (!settings) return null;
  try {
    const { OtelTracing } = await import('./otel.ts');
    const tracing = new OtelTracing(settings, (failure) => {
      if (failure === null) log.info({}, 'traces are exported again');
      else log.warn({ reason: failure }, 'traces cannot be exported');
    });
    const { protocol, sampler } = settings;
    log.info({ protocol, sampler }, 'traces are exported');
    return tracing;
  } catch (error) {
    const reason = error instanceof Error ? error.name : typeof error;
    log.warn({ reason }, 'traces cannot be exported');
    return null;
  }
}
