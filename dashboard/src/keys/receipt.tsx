/** The receipt of a recorded key: shown, verified by the page, and downloaded. */
import { useCallback, useRef, useState } from 'preact/hooks';
import { type KeyInfo, loadVerifier, type PhmClient } from '../api.ts';
import { ScrollRegion } from '../components/data-table.tsx';
import { Unfold } from '../components/figure.tsx';
import { Notice } from '../components/notice.tsx';
import { saveJson } from '../download.ts';
import { type PolicyChoice, PolicyField, policyText, SERVERS_POLICY } from '../receipts/policy.tsx';
import { readText } from '../receipts/read-file.ts';
import { titleOf, Verdict, type Verified } from '../receipts/verdict.tsx';
import { useSession } from '../session.tsx';

type Receipt = Awaited<ReturnType<PhmClient['receipt']>>['receipt'];

export function KeyReceipt({ info: { key_id: id, receipt_url: url } }: { info: KeyInfo }) {
  const { receipt, isLoading, error, get } = useReceipt(id);
  const text = receipt && JSON.stringify(receipt, undefined, 2);
  const verification = useVerification(text ?? '');
  const { outcome } = verification;
  return (
    <>
      <section class="panel" aria-labelledby="receipt-title">
        <h2 id="receipt-title">Receipt</h2>
        {url === null ? (
          <p>There is none: the service kept no transparency log when it generated this key.</p>
        ) : (
          <p>
            The service recorded in its log how it generated this key. The receipt proves this
            record, also to others. A revocation leaves it valid.
          </p>
        )}
        {url !== null && !receipt && (
          <div class="actions">
            <button type="button" aria-disabled={isLoading} onClick={get}>
              {isLoading ? 'Getting the receipt…' : 'Get the receipt'}
            </button>
          </div>
        )}
        {error !== undefined && <Notice error={error} retry={get} />}
        {text !== undefined && (
          <Shown
            text={text}
            verification={verification}
            onDownload={() => saveJson(`${id}-receipt.json`, { receipt })}
          />
        )}
      </section>
      {typeof outcome === 'string' && (
        <div class="notice bad" role="alert">
          <h3>The receipt was not verified</h3>
          <p>{outcome}</p>
        </div>
      )}
      {typeof outcome === 'object' && <Verdict verified={outcome} />}
    </>
  );
}

function useReceipt(id: string) {
  const { call } = useSession();
  const [receipt, setReceipt] = useState<Receipt>();
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<unknown>();
  const get = useCallback(async () => {
    setLoading(true);
    setError(undefined);
    try {
      setReceipt((await call((client) => client.receipt(id))).receipt);
    } catch (failure) {
      setError(failure);
    } finally {
      setLoading(false);
    }
  }, [call, id]);
  return { receipt, isLoading, error, get: () => void (isLoading || get()) };
}

/** Verifies a receipt under a policy that the reader chooses. */
function useVerification(receipt: string) {
  const [choice, setChoice] = useState(SERVERS_POLICY);
  const [isWorking, setWorking] = useState(false);
  const [outcome, setOutcome] = useState<Verified | string>();
  /** Counts changes, so that no verdict on an earlier policy appears beside a later one. */
  const changes = useRef(0);
  const change = (fields: Partial<PolicyChoice>) => {
    changes.current += 1;
    setChoice((before) => ({ ...before, ...fields }));
    setWorking(false);
    setOutcome(undefined);
  };
  const takePolicy = async (file: File) => {
    const policy = await readText(file);
    if (policy === null) setOutcome('The file is larger than 4 MiB, so it is no policy.');
    else change({ policy });
  };
  const verify = async () => {
    if (isWorking) return;
    setWorking(true);
    const verified = changes.current;
    const result = await verifyReceipt(receipt, choice).catch((error: Error) => error.message);
    if (changes.current !== verified) return;
    setWorking(false);
    setOutcome(result);
  };
  return { choice, isWorking, outcome, change, takePolicy, verify };
}

interface ShownProps {
  readonly text: string;
  readonly verification: ReturnType<typeof useVerification>;
  onDownload(): void;
}

function Shown({ text, verification, onDownload }: ShownProps) {
  const { choice, isWorking, outcome, change, takePolicy, verify } = verification;
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void verify();
        }}
      >
        <PolicyField choice={choice} onChange={change} onFile={(file) => void takePolicy(file)} />
        <div class="actions">
          <button type="submit" aria-disabled={isWorking}>
            {isWorking ? 'Verifying…' : 'Verify'}
          </button>
          <button type="button" onClick={onDownload}>
            Download
          </button>
          <span class="note">
            To check that it belongs to a key, use <a href="#/receipts">Receipts</a> with the key
            and its opening.
          </span>
        </div>
      </form>
      <Unfold summary="The receipt, word for word">
        {() => (
          <ScrollRegion label="The receipt">
            <pre class="mono">{text}</pre>
          </ScrollRegion>
        )}
      </Unfold>
      <p class="unseen" role="status">
        {isWorking ? 'Verifying the receipt.' : saidOf(outcome)}
      </p>
    </>
  );
}

function saidOf(outcome: Verified | string | undefined): string {
  return typeof outcome === 'object' ? `${titleOf(outcome)}.` : '';
}

/** Throws `Error` with a sentence for the reader. */
async function verifyReceipt(receipt: string, choice: PolicyChoice): Promise<Verified> {
  const [verify, policy] = await Promise.all([loadVerifier(), policyText(choice)]);
  const verdict = await verify(receipt, policy.trim() === '' ? {} : { policy });
  return { verdict, isServersPolicy: choice.source === 'server' };
}
