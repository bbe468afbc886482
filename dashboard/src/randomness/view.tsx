/** Evidence: the second level of SP 800-22 over the last validated keys of the account. */
import type { ComponentChildren } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import type { Randomness } from '../api.ts';
import { Notice } from '../components/notice.tsx';
import { Segments } from '../components/segments.tsx';
import { dateTime, plural } from '../format.ts';
import { useLoad } from '../load.ts';
import { useSession } from '../session.tsx';
import { GateShare } from './gate-share.tsx';
import { HistogramPanel } from './histogram.tsx';
import { ProportionsPanel } from './proportions.tsx';
import { expectedOutside, isOutside, MINIMUM_KEYS } from './second-level.ts';
import { TopUp } from './top-up.tsx';

const SPANS = [100, 300, 1000].map((value) => ({ value, label: String(value) }));

/** Number of keys to add if there are enough already. */
const MORE_KEYS = 50;

export function EvidenceView() {
  const { call } = useSession();
  const [keys, setKeys] = useState(100);
  const [row, setRow] = useState('');
  const load = useCallback(
    (signal: AbortSignal) =>
      call(async (client) => (await client.randomness({ keys }, { signal })).randomness),
    [call, keys],
  );
  const { data, error, isLoading, reload } = useLoad(load);
  return (
    <>
      {error !== undefined && <Notice error={error} retry={reload} />}
      {data === undefined && isLoading && (
        <p class="note">Reading the p-values of the last keys…</p>
      )}
      {data && (
        <Verdict randomness={data}>
          <div class="toolbar">
            <Segments<number>
              legend="Last keys, up to"
              options={SPANS}
              value={keys}
              onChange={setKeys}
            />
            <button type="button" aria-disabled={isLoading} onClick={reload}>
              {isLoading ? 'Loading…' : 'Refresh'}
            </button>
          </div>
          <TopUp
            missing={data.keys < MINIMUM_KEYS ? MINIMUM_KEYS - data.keys : MORE_KEYS}
            isNeeded={data.keys < MINIMUM_KEYS}
            onDone={reload}
          />
        </Verdict>
      )}
      <p class="unseen" role="status">
        {data && verdictText(data)}
      </p>
      {data && data.keys > 0 && (
        <>
          {data.rows.some(({ verdict }) => verdict !== null) && (
            <ProportionsPanel randomness={data} onChoose={setRow} />
          )}
          <HistogramPanel randomness={data} chosen={row} onChoose={setRow} />
        </>
      )}
      {data && <GateShare />}
    </>
  );
}

function judge({ rows }: Randomness) {
  const judged = rows.filter(({ verdict }) => verdict !== null);
  return { judged, failed: judged.filter(({ verdict }) => verdict === 'fail').length };
}

/** Returns the verdict for screen readers. */
function verdictText(randomness: Randomness): string {
  const { judged, failed } = judge(randomness);
  const { keys } = randomness;
  return `${plural(keys, 'validated key')}. ${titleOf(keys, judged.length, failed)}.`;
}

interface VerdictProps {
  readonly randomness: Randomness;
  readonly children: ComponentChildren;
}

function Verdict({ randomness, children }: VerdictProps) {
  const { keys, first, last, rows } = randomness;
  const { judged, failed } = judge(randomness);
  const outside = judged.filter(isOutside).length;
  const isJudged = judged.length > 0;
  const state = isJudged ? (failed === 0 ? 'good' : 'bad') : '';
  return (
    <section class={`panel verdict ${state}`} aria-labelledby="second-title">
      <h2 id="second-title">{titleOf(keys, judged.length, failed)}</h2>
      {first && last && (
        <p class="note">
          {plural(keys, 'validated key')}, generated from {dateTime(first)} to {dateTime(last)}.
        </p>
      )}
      {keys < MINIMUM_KEYS ? (
        <p>
          SP 800-22 §4.2 judges a source by the p-values of at least {MINIMUM_KEYS} samples.{' '}
          {MINIMUM_KEYS - keys} more {MINIMUM_KEYS - keys === 1 ? 'is' : 'are'} needed. Keys of
          earlier releases, whose tests judged the stream after modulation, do not count.
        </p>
      ) : (
        <p>
          {outside} of {judged.length} rows are outside the interval of §4.2.1;{' '}
          {expectedOutside(judged).toFixed(1)} are expected of a sound source. The verdict is
          corrected for the number of rows.
          {judged.length < rows.length &&
            ` ${rows.length - judged.length} rows are not judged: their tests applied to fewer than ${MINIMUM_KEYS} of the keys.`}
        </p>
      )}
      <p>
        <strong>What this does not prove:</strong> that keys cannot be guessed. Many keys together
        can show defects that are too small for one sample, but a generator with a known seed
        passes.
      </p>
      {children}
    </section>
  );
}

function titleOf(keys: number, judged: number, failed: number): string {
  if (keys === 0) return 'No keys to judge yet';
  if (judged === 0) return `Too few keys: ${keys} of ${MINIMUM_KEYS}`;
  if (failed === 0) return `Passed: none of ${judged} rows failed`;
  return `Failed: ${failed} of ${judged} rows`;
}
