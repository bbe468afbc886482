/** The share of tested streams that passed the gate, over the last 30 days. */
import { useCallback } from 'preact/hooks';
import { Notice } from '../components/notice.tsx';
import { Tiles } from '../components/tiles.tsx';
import { percent } from '../format.ts';
import { useLoad } from '../load.ts';
import { useSession } from '../session.tsx';
import { GATE_CHART, SeriesChartOf } from '../usage/series.tsx';

const HOURS = 720;

export function GateShare() {
  const { call } = useSession();
  const load = useCallback(
    (signal: AbortSignal) =>
      call(async (client) => {
        const [{ metrics }, { series }] = await Promise.all([
          client.metrics({ hours: HOURS }, { signal }),
          client.metricsSeries({ hours: HOURS }, { signal }),
        ]);
        return { performance: metrics.performance, series };
      }),
    [call],
  );
  const { data, error, reload } = useLoad(load);
  if (error !== undefined) return <Notice error={error} retry={reload} />;
  if (!data) return null;
  const { performance, series } = data;
  const hasStreams = series.points.some(({ nist_compliance_rate: rate }) => rate !== null);
  return (
    <section aria-label="The gate over the last 30 days">
      <div class="panel">
        <Tiles
          tiles={[
            {
              label: 'Streams past the gate',
              value: hasStreams ? percent(performance.nist_compliance_rate) : '–',
              note: hasStreams
                ? 'of the tested ones, last 30 days'
                : 'no stream was tested in the last 30 days',
            },
          ]}
        />
      </div>
      {hasStreams && <SeriesChartOf chart={GATE_CHART} series={series} />}
    </section>
  );
}
