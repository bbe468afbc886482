/**
 * Traces, configured by OpenTelemetry's own variables. They are on if a variable names an exporter or an endpoint.
 * Only then OpenTelemetry's packages are loaded (`otel.ts`). They read endpoint, headers, timeouts and resource
 * attributes from the environment themselves.
 */
import type { Tracing } from './request-trace.ts';
import { type Environment, readTracing } from './tracing-settings.ts';

/** The part of the logger that this module uses. */
interface TracingLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/**
 * Starts tracing if the environment asks for it. Returns null if it does not, or, with a line in the log, if the SDK
 * cannot use the settings.
 */
export async function openTracing(env: Environment, log: TracingLog): Promise<Tracing | null> {
  const { settings, warnings } = readTracing(env);
  for (const reason of warnings) log.warn({ reason }, 'traces: a variable is unusable');
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
