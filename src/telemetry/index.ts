/**
 * What operators see of a running server from outside: metrics for Prometheus, on a listener of their
 * own, and traces for OpenTelemetry. The service neither waits for them nor fails with them. The
 * libraries of either are loaded when an operator asks for it.
 */
import type { MetricsOptions, ServiceMetrics } from './service-metrics.ts';

export { MetricsServer } from './metrics-server.ts';
export type { RequestTrace, Tracing } from './request-trace.ts';
export type { ConnectionCounts } from './scrape-metrics.ts';
export type { HandshakeFailure, MetricsOptions, ServiceMetrics } from './service-metrics.ts';
export { parseTraceparent } from './traceparent.ts';
export { openTracing } from './tracing.ts';

/** Begins to count. */
export async function openMetrics(options: MetricsOptions): Promise<ServiceMetrics> {
  const { ServiceMetrics } = await import('./service-metrics.ts');
  return new ServiceMetrics(options);
}
