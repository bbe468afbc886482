/** The monthly quota and the rate limit, from the last answer of the service. */
import type { Limit } from '../api.ts';
import { count, dateTime, duration } from '../format.ts';
import { useNow } from '../load.ts';
import { useSession } from '../session.tsx';

/** Share of the quota from which the bar warns. */
const NEARLY_USED = 0.9;

export function Quota() {
  const { limits } = useSession();
  const now = useNow(1000);
  if (!limits) return null;
  const { quota, rate, at } = limits;
  return (
    <section class="panel" aria-labelledby="quota-title">
      <h2 id="quota-title">Monthly quota</h2>
      {quota ? (
        <Meter limit={quota} resetAt={at + quota.resetSeconds * 1000} now={now} />
      ) : (
        <p>
          <strong>Unlimited.</strong> The plan of this account has no monthly quota.
        </p>
      )}
      <p class="note">
        Generated keys and verdicts count. Metrics, evidence and status never do.{' '}
        {rate && rateWords(rate)}
      </p>
    </section>
  );
}

function rateWords({ limit, remaining }: Limit): string {
  return `Bursts may have up to ${count(limit)} calls; ${count(remaining)} were left after the last call.`;
}

/** The `<meter>` is only for screen readers, because each browser draws it differently. */
function Meter({ limit, resetAt, now }: { limit: Limit; resetAt: number; now: number }) {
  const used = limit.limit - limit.remaining;
  const share = limit.limit === 0 ? 1 : used / limit.limit;
  return (
    <>
      <p class="quota-figures">
        <strong>{count(limit.remaining)}</strong> of {count(limit.limit)} requests left
      </p>
      <meter
        class="unseen"
        aria-label="Requests used this month"
        aria-valuetext={`${count(used)} of ${count(limit.limit)} used`}
        max={limit.limit}
        value={used}
      />
      <div class={share >= NEARLY_USED ? 'meter nearly' : 'meter'} aria-hidden="true">
        <div style={{ width: `${(share * 100).toFixed(2)}%` }} />
      </div>
      <p class="quota-ends">
        <span>{count(used)} used</span>
        <span>
          resets on {dateTime(resetAt)} (in {duration((resetAt - now) / 1000)})
        </span>
      </p>
      {limit.remaining === 0 && (
        <p>
          The quota is used up: generate and validate are refused until then. An operator can move
          the account to a larger plan at any time.
        </p>
      )}
    </>
  );
}
