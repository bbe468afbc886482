/** Overview: what an account needs to know at a glance. Usage, Keys, Evidence and Status have the details. */
import type { ComponentChildren } from 'preact';
import { useCallback } from 'preact/hooks';
import type { KeyInfo, SeriesPoint } from '../api.ts';
import { Notice } from '../components/notice.tsx';
import { type Tile, Tiles } from '../components/tiles.tsx';
import { age, count, dateTime, duration, milliseconds, percent, timeOfDay } from '../format.ts';
import { useHealthWords } from '../health.tsx';
import { Status } from '../keys/table.tsx';
import { endText, labelTexts } from '../keys/words.ts';
import { useInterval, useLoad, useNow } from '../load.ts';
import { useSession } from '../session.tsx';
import { isQuiet } from '../usage/series.tsx';
import { Bars } from './bars.tsx';

const HOURS = 24;

const LISTED = 5;

const REFRESH_MS = 30_000;

const SECOND_MS = 1000;

export function OverviewView() {
  const { call } = useSession();
  const load = useCallback(
    (signal: AbortSignal) =>
      call(async (client) => {
        const [sums, over, newest, revoked] = await Promise.all([
          client.metrics({ hours: HOURS }, { signal }),
          client.metricsSeries({ hours: HOURS, step: 60 }, { signal }),
          client.keyPage({ limit: LISTED }, { signal }),
          client.keyPage({ limit: LISTED, revoked: true }, { signal }),
        ]);
        const { points } = over.series;
        return { performance: sums.metrics.performance, points, newest, revoked };
      }),
    [call],
  );
  const { data, error, isLoading, at, reload } = useLoad(load);
  useInterval(reload, REFRESH_MS, true);
  return (
    <>
      {error !== undefined && <Notice error={error} retry={reload} />}
      {data === undefined && isLoading && <p class="note">Loading the account…</p>}
      {data && at !== undefined && (
        <>
          <Now points={data.points} errorRate={data.performance.error_rate} />
          <section class="panel" aria-labelledby="hours-title">
            <header class="row">
              <h2 id="hours-title">Keys per hour</h2>
              <p class="note">
                {count(data.performance.total_keys_generated)} in the last 24 hours, as of{' '}
                {timeOfDay(at)}. <a href="#/usage">Usage</a>
              </p>
            </header>
            <Bars points={data.points} />
          </section>
          <div class="pair">
            <Keys
              title="Last keys"
              none={
                <>
                  This account has no keys yet. <a href="#/generate">Generate one</a>.
                </>
              }
              href="#/keys"
              keys={data.newest.keys}
              noteOf={(info, now) => `${age(now - Date.parse(info.created_at))} ago`}
            />
            <Keys
              title="Last revoked keys"
              none={
                data.revoked.next_cursor === null
                  ? 'No key of this account is revoked.'
                  : 'None of the newest keys is revoked.'
              }
              href="#/keys?revoked=true"
              keys={data.revoked.keys}
              noteOf={endText}
            />
          </div>
        </>
      )}
    </>
  );
}

interface NowProps {
  /** Hours, oldest first. */
  readonly points: readonly SeriesPoint[];
  readonly errorRate: number;
}

function Now({ points, errorRate }: NowProps) {
  const { limits } = useSession();
  const now = useNow(SECOND_MS);
  const words = useHealthWords();
  const last = points.findLast(({ latency_ms: latency }) => latency?.p99 != null);
  const tiles: Tile[] = [
    ...(limits ? [quotaTile(limits, now)] : []),
    last?.latency_ms?.p99 != null
      ? {
          label: 'p99 latency',
          value: milliseconds(last.latency_ms.p99),
          note: `in the hour from ${dateTime(last.start)}`,
        }
      : { label: 'p99 latency', value: '–', note: 'no key in the last 24 hours' },
    {
      label: 'Errors',
      value: isQuiet(points) ? '–' : percent(errorRate),
      note: '5xx answers to generate, last 24 hours',
    },
  ];
  return (
    <section class="panel" aria-labelledby="now-title">
      <header class="row">
        <h2 id="now-title">Now</h2>
        <p class="note">
          {words}. <a href="#/status">Status</a>
        </p>
      </header>
      <Tiles tiles={tiles} />
    </section>
  );
}

function quotaTile(
  { quota, at }: NonNullable<ReturnType<typeof useSession>['limits']>,
  now: number,
): Tile {
  if (!quota) return { label: 'Quota', value: 'Unlimited', note: 'no monthly quota' };
  const resetSeconds = (at - now) / SECOND_MS + quota.resetSeconds;
  return {
    label: 'Quota left',
    value: count(quota.remaining),
    note: `of ${count(quota.limit)}; resets in ${duration(resetSeconds)}`,
  };
}

interface KeysProps {
  readonly title: string;
  readonly none: ComponentChildren;
  /** Where all of them are. */
  readonly href: string;
  readonly keys: readonly KeyInfo[];
  noteOf(info: KeyInfo, now: number): string;
}

function Keys({ title, none, href, keys, noteOf }: KeysProps) {
  const now = useNow(60_000);
  return (
    <section class="panel" aria-label={title}>
      <header class="row">
        <h2>{title}</h2>
        {keys.length > 0 && (
          <a href={href}>
            All<span class="unseen"> {title.replace('Last', '').trim()}</span>
          </a>
        )}
      </header>
      {keys.length === 0 ? (
        <p>{none}</p>
      ) : (
        <ul class="last-keys">
          {keys.map((info) => (
            <li key={info.key_id}>
              <a class="mono" href={`#/keys/${info.key_id}`} title={info.key_id}>
                {info.key_id}
              </a>
              <Status info={info} />
              <span class="note">{[noteOf(info, now), ...labelTexts(info)].join(' · ')}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
