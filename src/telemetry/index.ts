/**
 * What operators see of a running server from outside: metrics for Prometheus, on a listener of their
 * own, and traces for OpenTelemetry. The service neither waits for them nor fails with them.
 */
export { type MetricsOptions, ServiceMetrics } from './metrics.ts';
export { MetricsServer } from './metrics-server.ts';
export { parseTraceparent } from './traceparent.ts';
export { openTracing, type RequestTrace, type Tracing } from './tracing.ts';
