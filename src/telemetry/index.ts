/**
 * Metrics for Prometheus, on a separate listener, and traces for OpenTelemetry. The service neither waits for them
 * nor fails with them. Their libraries are loaded only if an operator turns them on.
 */
import type { MetricsOptions, ServiceMetrics } from './service-metrics.ts';

export type { CountedEvents, HandshakeFailure } from './event-metrics.ts';
export { MetricsServer } from './metrics-server.ts';
export type { RequestTrace, Tracing } from './request-trace.ts';
export type { Resources } from './resource-metrics.ts';
export type { ConnectionCounts } from './scrape-metrics.ts';
export type { ServiceMetrics } from './service-metrics.ts';
export { parseTraceparent } from './traceparent.ts';
export { openTracing } from './tracing.ts';

/** Loads the metrics library and starts counting. */
export async function openMetrics(options: MetricsOptions): Promise<ServiceMetrics> {
  const { ServiceMetrics } = await import('./service-metrics.ts');
  return new ServiceMetrics(options);
}
