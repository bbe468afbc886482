/** What is known about the number of keys. The service does not count the records of an account. */
import { useCallback } from 'preact/hooks';
import { useLoad } from '../load.ts';
import { useSession } from '../session.tsx';

const YEAR_HOURS = 8760;

/** Returns how many keys the account generated in the last year; undefined while it is unknown, also after a failure. */
export function useYearlyKeys(): { keys: number | undefined; reload: () => void } {
  const { call } = useSession();
  const load = useCallback(
    (signal: AbortSignal) =>
      call(async (client) => {
        const { metrics } = await client.metrics({ hours: YEAR_HOURS }, { signal });
        return metrics.performance.total_keys_generated;
      }),
    [call],
  );
  const { data, reload } = useLoad(load);
  return { keys: data, reload };
}
