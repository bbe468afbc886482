/**
 * Traces by OpenTelemetry's own variables. They are on when an exporter or an endpoint is named; only
 * then are its packages loaded (`otel.ts`), which read endpoint, headers, timeouts and resource
 * attributes from the environment themselves.
 */
import type { Tracing } from './request-trace.ts';
import { type Environment, readTracing } from './tracing-settings.ts';

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
