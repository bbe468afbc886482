/** The verdict on a receipt, sentence by sentence. */
import type { ReceiptVerdict } from '../api.ts';
import { ScrollRegion } from '../components/data-table.tsx';
import { Unfold } from '../components/figure.tsx';

export interface Verified {
  readonly verdict: ReceiptVerdict;
  /** True if the policy came from this server, together with nothing that the reader had before. */
  readonly isServersPolicy: boolean;
}

const FROM_SERVER =
  'The policy came from this server just now. It shows that the receipt is of the log that this server runs, but it pins nothing: a server that cheats would also send a policy that fits.';

/** Returns the verdict in one line. */
export function titleOf({ verdict: { valid }, isServersPolicy }: Verified): string {
  if (!valid) return 'Not valid';
  return isServersPolicy ? 'Valid, by this server’s own policy' : 'Valid under your policy';
}

export function Verdict({ verified }: { verified: Verified }) {
  const { verdict, isServersPolicy } = verified;
  const { valid, problems, shown, notShown, statement } = verdict;
  return (
    <section class={`panel verdict ${valid ? 'good' : 'bad'}`} aria-labelledby="receipt-verdict">
      <h2 id="receipt-verdict">{titleOf(verified)}</h2>
      {valid && isServersPolicy && <p>{FROM_SERVER}</p>}
      <Sentences title="What is wrong" list={problems} state="bad" sign="!" />
      <Sentences title="What the receipt shows" list={shown} state="good" sign="✓" />
      <Sentences title="What it does not show" list={notShown} state="skipped" sign="–" />
      {statement && (
        <Unfold summary="The statement, word for word">
          {() => (
            <ScrollRegion label="The statement">
              <pre class="mono">{JSON.stringify(statement, undefined, 2)}</pre>
            </ScrollRegion>
          )}
        </Unfold>
      )}
    </section>
  );
}

interface SentencesProps {
  readonly title: string;
  readonly list: readonly string[];
  readonly state: string;
  readonly sign: string;
}

function Sentences({ title, list, state, sign }: SentencesProps) {
  if (list.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="sentences">
        {list.map((sentence) => (
          <li key={sentence}>
            <span class={`state ${state}`} aria-hidden="true">
              {sign}
            </span>
            <p>{sentence}</p>
          </li>
        ))}
      </ul>
    </>
  );
}
