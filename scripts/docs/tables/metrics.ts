/** The metrics of `docs/monitoring.md`, by name: what belongs together begins alike. */
import type { MetricTexts } from '../../../src/telemetry/definition.ts';
import { EVENT_METRICS } from '../../../src/telemetry/event-metrics.ts';
import { type ServerState, scrapeMetrics } from '../../../src/telemetry/scrape-metrics.ts';
import { INFO_METRICS } from '../../../src/telemetry/service-metrics.ts';
import { type Part, partOfPage, tableText } from './part.ts';

/** A state for the definitions alone: they read nothing before a scrape. */
const NO_SERVER = { resources: { folders: [] } } as unknown as ServerState;

type Metric = MetricTexts & { readonly type: string };

function rowOf({ name, type, labelNames = [], help, meaning = help }: Metric): string[] {
  return [`\`${name}\``, type, labelNames.map((label) => `\`${label}\``).join(', '), meaning];
}

/** Returns what the code says about each metric, by name. */
export function allMetrics(): Metric[] {
  const infos = Object.values(INFO_METRICS).map((row) => ({ ...row, type: 'gauge' }));
  const metrics = [...Object.values(EVENT_METRICS), ...scrapeMetrics(NO_SERVER), ...infos];
  return metrics.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function metricParts(): Part[] {
  const text = tableText(['Metric', 'Type', 'Labels', 'Meaning'], allMetrics().map(rowOf));
  return [partOfPage('docs/monitoring.md', 'metrics', text)];
}
