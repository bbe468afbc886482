/** Reads the OpenTelemetry variables that the SDK does not read itself. */
import { readFileSync } from 'node:fs';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that the SDK does not read from the environment. */
export interface TracingSettings {
  readonly protocol: (typeof PROTOCOLS)[number];
  readonly sampler: (typeof SAMPLERS)[number];
  /** Share of traces that a ratio sampler keeps, 0…1. */
  readonly ratio: number;
  /** True if a caller's `traceparent` becomes the parent of the server span. */
  readonly honoursCaller: boolean;
  /** Undefined values use the SDK's defaults. */
  readonly batch: Readonly<Record<keyof typeof BATCH_VARIABLES, number | undefined>>;
}

interface TracingResult {
  /** Null if traces are off. */
  readonly settings: TracingSettings | null;
  /** Unusable variables. Their values may hold anything and are not quoted. */
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

/** Variables that name a PEM file. The SDK ignores a file that it cannot read. */
const FILES = ['CERTIFICATE', 'CLIENT_KEY', 'CLIENT_CERTIFICATE'];

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];

/** Reads the variables and tries the files. Unusable values are warnings: traces MUST NOT prevent a start. */
export function readTracing(env: Environment): TracingResult {
  const warnings: string[] = [];
  const text = (name: string) => env[name]?.trim() ?? '';
  const endpoint = ENDPOINTS.find((name) => text(name) !== '');
  const exporter = text('OTEL_TRACES_EXPORTER').toLowerCase();
  if (text('OTEL_SDK_DISABLED').toLowerCase() === 'true') return { settings: null, warnings };
  if (exporter === 'none' || (exporter === '' && !endpoint)) return { settings: null, warnings };
  if (exporter !== '' && exporter !== 'otlp') {
    warnings.push('OTEL_TRACES_EXPORTER: use otlp or none; traces are off');
    return { settings: null, warnings };
  }
  if (endpoint && !/^https?:$/.test(URL.parse(text(endpoint))?.protocol ?? '')) {
    warnings.push(`${endpoint} is not an http:// or https:// address; traces are off`);
    return { settings: null, warnings };
  }
  const protocol = readProtocol(text);
  if (!protocol) {
    warnings.push(`OTEL_EXPORTER_OTLP_PROTOCOL: use ${PROTOCOLS.join(' or ')}; traces are off`);
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
    warnings.push(`OTEL_TRACES_SAMPLER: use one of ${SAMPLERS.join(', ')}; the first one is used`);
  }
  const argument = text('OTEL_TRACES_SAMPLER_ARG');
  const given = argument === '' ? 1 : Number(argument);
  const usable = given >= 0 && given <= 1;
  if (!usable && sampler?.endsWith('ratio')) {
    warnings.push('OTEL_TRACES_SAMPLER_ARG: use a number from 0 to 1; 1 is used');
  }
  return { sampler: sampler ?? SAMPLERS[0], ratio: usable ? given : 1 };
}

/** Warns about unreadable files. As in the SDK, the variable for traces precedes the one for all signals. */
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
    warnings.push(`${name}: use a whole number above 0; the default is used`);
    return undefined;
  };
  return {
    scheduledDelayMillis: read(BATCH_VARIABLES.scheduledDelayMillis),
    exportTimeoutMillis: read(BATCH_VARIABLES.exportTimeoutMillis),
    maxQueueSize: read(BATCH_VARIABLES.maxQueueSize),
    maxExportBatchSize: read(BATCH_VARIABLES.maxExportBatchSize),
  };
}
