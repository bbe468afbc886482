/** The metrics of `docs/monitoring.md`, by name: what belongs together begins alike. */
import type { MetricTexts } from '../../../src/telemetry/definition.ts';
import { EVENT_METRICS } from '../../../src/telemetry/event-metrics.ts';
import { type ServerState, scrapeMetrics } from '../../../src/telemetry/scrape-metrics.ts';
import { INFO_METRICS } from '../../../src/telemetry/service-metrics.ts';
import { type Part, partOfPage, tableText } from './part.ts';

const unread = (): never => {
  throw new Error('no server runs');
};

/** A state for the definitions alone: nothing scrapes them. */
const NO_SERVER: ServerState = {
  load: unread,
  readiness: unread,
  log: unread,
  clock: unread,
  databaseHosts: [],
  databaseHost: unread,
  retentionDays: null,
  isDraining: unread,
  connections: unread,
  lostLogLines: unread,
  resources: {
    clock: { nowMs: unread },
    certificateEndMs: null,
    folders: [],
    databaseBytes: unread,
  },
};

type Metric = MetricTexts & { readonly type: string };

function rowOf({ name, type, labelNames = [], help, meaning = help }: Metric): string[] {
  return [`\`${name}\``, type, labelNames.map((label) => `\`${label}\``).join(', '), meaning];
}

export function metricParts(): Part[] {
  const infos = Object.values(INFO_METRICS).map((row) => ({ ...row, type: 'gauge' }));
  const metrics = [...Object.values(EVENT_METRICS), ...scrapeMetrics(NO_SERVER), ...infos];
  const rows = metrics.sort((a, b) => (a.name < b.name ? -1 : 1)).map(rowOf);
  const text = tableText(['Metric', 'Type', 'Labels', 'Meaning'], rows);
  return [partOfPage('docs/monitoring.md', 'metrics', text)];
}
