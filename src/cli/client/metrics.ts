/** `phm metrics`: shows the usage of an account on a running service. */

import type { Command } from 'commander';
import { parseCountTo, writeJson, writeTable } from '#platform/commands';
import type { Limits, Metrics, MetricsSeries } from '../../../sdk/src/index.ts';
import type { CliContext } from '../context.ts';
import { addConnectionOptions, Connection, type ConnectionFlags, duration } from './connection.ts';
import { sparkline } from './terminal.ts';

const HELP = `
All numbers are for the account of the API key. A terminal also shows keys over time as bars.
Exit code: 0 the numbers were written, 1 failed, 2 wrong usage.

Example:
  phm metrics --hours 168
`;

const DEFAULT_HOURS = 24;

/** Longest period that the service accepts: a year. */
const MAX_HOURS = 8_760;

const SPARKLINE_WIDTH = 60;

interface MetricsFlags extends ConnectionFlags {
  readonly hours: number;
  readonly json?: boolean;
}

export function addMetricsCommand(program: Command, context: CliContext): void {
  const command = program
    .command('metrics')
    .description('show the usage of your account on a running service')
    .option(
      '--hours <n>',
      `length of the period, 1 to ${MAX_HOURS}`,
      parseCountTo(MAX_HOURS),
      DEFAULT_HOURS,
    )
    .option('--json', 'write the whole answer of the service');
  addConnectionOptions(command, HELP).action((flags: MetricsFlags) => showMetrics(context, flags));
}

async function showMetrics(
  context: CliContext,
  { hours, json, ...flags }: MetricsFlags,
): Promise<void> {
  const connection = new Connection(context, flags);
  const metrics = await connection.ask((phm, signal) => phm.metrics({ hours }, { signal }));
  if (json) {
    writeJson(context, metrics);
    return;
  }
  const { points } = (
    await connection.ask((phm, signal) => phm.metricsSeries({ hours }, { signal }))
  ).series;
  const rows = toRows(metrics, points, connection.client.lastLimits);
  if (process.stdout.isTTY) {
    const counts = points.map(({ keys }) => keys);
    rows.push(['keys over time', sparkline(counts, SPARKLINE_WIDTH)]);
  }
  writeTable(context, [hours === 1 ? 'LAST HOUR' : `LAST ${hours} HOURS`, ''], rows);
}

/** The points tell a share of nothing from a whole: the sums have 100 % for both. */
function toRows(
  { metrics: { performance, usage } }: Metrics,
  points: MetricsSeries['series']['points'],
  { quota }: Limits,
): string[][] {
  const keys = performance.total_keys_generated;
  const hasStreams = points.some(({ nist_compliance_rate: rate }) => rate !== null);
  return [
    ['keys generated', number(keys)],
    ['average latency', keys === 0 ? '-' : `${performance.average_latency_ms} ms`],
    ['streams that passed', hasStreams ? percent(performance.nist_compliance_rate) : '-'],
    ['failed calls', percent(performance.error_rate)],
    ['metered requests', number(usage.total_usage)],
    ['active API keys', number(usage.api_key_count)],
    ['left this month', quota ? describeQuota(quota) : 'unlimited'],
  ];
}

function describeQuota({ limit, remaining, resetSeconds }: NonNullable<Limits['quota']>): string {
  return `${number(remaining)} of ${number(limit)} requests, for the next ${duration(resetSeconds)}`;
}

function number(value: number): string {
  return value.toLocaleString('en');
}

function percent(share: number): string {
  return `${(share * 100).toLocaleString('en', { maximumFractionDigits: 2 })} %`;
}
