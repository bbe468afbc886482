/** Usage: the monthly quota, and totals and charts of a period. */
import { useCallback, useState } from 'preact/hooks';
import { Notice } from '../components/notice.tsx';
import { Segments } from '../components/segments.tsx';
import { Tiles } from '../components/tiles.tsx';
import { count, dateTime, milliseconds, percent, timeOfDay } from '../format.ts';
import { useInterval, useLoad } from '../load.ts';
import { useSession } from '../session.tsx';
import { Quota } from './quota.tsx';
import { isQuiet, SeriesCharts } from './series.tsx';

const PERIODS = [
  { value: 1, label: '1 h', words: 'the last hour' },
  { value: 24, label: '24 h', words: 'the last 24 hours' },
  { value: 168, label: '7 d', words: 'the last 7 days' },
  { value: 720, label: '30 d', words: 'the last 30 days' },
  { value: 8760, label: '1 y', words: 'the last year' },
] as const;

type Hours = (typeof PERIODS)[number]['value'];

const REFRESH_MS = 10_000;

export function UsageView() {
  const { call } = useSession();
  const [hours, setHours] = useState<Hours>(24);
  const [isLive, setLive] = useState(false);
  const load = useCallback(
    (signal: AbortSignal) =>
      call(async (client) => {
        const [sums, over] = await Promise.all([
          client.metrics({ hours }, { signal }),
          client.metricsSeries({ hours }, { signal }),
        ]);
        return { hours, metrics: sums.metrics, series: over.series };
      }),
    [call, hours],
  );
  const { data, error, isLoading, at, reload } = useLoad(load);
  useInterval(reload, REFRESH_MS, isLive);
  const words = PERIODS.find(({ value }) => value === (data?.hours ?? hours))?.words ?? '';
  return (
    <>
      <Quota />
      <section class="panel" aria-labelledby="period-title">
        <header class="row">
          <h2 id="period-title">Over {words}</h2>
          <div class="toolbar">
            <Segments<Hours>
              legend="Period"
              isLegendHidden={true}
              options={PERIODS}
              value={hours}
              onChange={setHours}
            />
            <button type="button" aria-disabled={isLoading} onClick={reload}>
              {isLoading ? 'Loading…' : 'Refresh'}
            </button>
            <label class="check">
              <input
                type="checkbox"
                checked={isLive}
                onChange={(event) => setLive(event.currentTarget.checked)}
              />
              <span>
                <span class="unseen">Refresh </span>every 10 s
              </span>
            </label>
          </div>
        </header>
        {error !== undefined && <Notice error={error} retry={reload} />}
        <p class="unseen" role="status">
          {data &&
            `Shown: ${words}${isLive || at === undefined ? '' : `, as of ${timeOfDay(at)}`}.`}
        </p>
        {data === undefined && isLoading && <p class="note">Loading the totals of the account…</p>}
        {data && (
          <>
            <Sums metrics={data.metrics} isQuiet={isQuiet(data.series.points)} />
            <p class="note">
              For the account of this API key.
              {at !== undefined && ` As of ${timeOfDay(at)}.`}
              {' From '}
              {dateTime(data.series.start)}, in steps of {stepWords(data.series.step_minutes)}, your
              local time.
            </p>
          </>
        )}
      </section>
      {data && <SeriesCharts series={data.series} isStale={data.hours !== hours} />}
    </>
  );
}

function stepWords(minutes: number): string {
  if (minutes < 60) return minutes === 1 ? 'a minute' : `${minutes} minutes`;
  if (minutes < 1440) return minutes === 60 ? 'an hour' : `${minutes / 60} hours`;
  return 'a day';
}

interface SumsProps {
  readonly metrics: {
    readonly performance: {
      readonly total_keys_generated: number;
      readonly average_latency_ms: number;
      readonly error_rate: number;
    };
    readonly usage: { readonly api_key_count: number; readonly total_usage: number };
  };
  /** No call could fail. */
  readonly isQuiet: boolean;
}

function Sums({ metrics: { performance, usage }, isQuiet }: SumsProps) {
  const keys = performance.total_keys_generated;
  return (
    <Tiles
      tiles={[
        { label: 'Keys generated', value: count(keys) },
        {
          label: 'Metered requests',
          value: count(usage.total_usage),
          note: 'keys and validations',
        },
        {
          label: 'Mean latency',
          value: keys === 0 ? '–' : milliseconds(performance.average_latency_ms),
          note: 'without commit and network',
        },
        {
          label: 'Errors',
          value: isQuiet ? '–' : percent(performance.error_rate),
          note: '5xx answers to generate',
        },
        { label: 'Active API keys', value: count(usage.api_key_count), note: 'now' },
      ]}
    />
  );
}
