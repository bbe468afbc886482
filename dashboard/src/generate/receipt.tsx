/** The receipt for the generated key, and the opening that ties it to the key. */
import { useState } from 'preact/hooks';
import type { GeneratedKey } from '../api.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Notice } from '../components/notice.tsx';
import { saveJson } from '../download.ts';
import { useSession } from '../session.tsx';
import { type Answer, type Made, useCustody } from './custody.tsx';

type Receipt = NonNullable<GeneratedKey['receipt']>;

/** Returns what is downloaded: a file that the view Receipts and `phm receipt verify` read. */
function receiptFile({ receipt, opening, receipt_url }: Answer): object {
  return { receipt, opening, receipt_url };
}

export function ReceiptPanel({ made }: { made: Made }) {
  const { answer } = made;
  const { key_id: id, receipt, opening } = answer;
  const [isShown, setShown] = useState(false);
  // A sealed key has its opening inside.
  if (receipt === undefined && opening === undefined) return null;
  return (
    <section class="panel" aria-labelledby="receipt-title">
      <h2 id="receipt-title">{receipt ? 'Its receipt' : 'Its receipt is not ready yet'}</h2>
      {receipt ? (
        <p>
          The service recorded this key in its log <code>{receipt.statement.service}</code>
          {entryText(receipt)}. Anyone can <a href="#/receipts">verify the receipt</a>, also without
          this service.
        </p>
      ) : (
        <Pending id={id} />
      )}
      {opening !== undefined ? (
        <>
          <p>
            The opening shows that the receipt is for this key. Store it beside the key and as
            secret: nothing returns it again.
          </p>
          <dl class="ids">
            <div>
              <dt>Opening</dt>
              <dd>
                <code>
                  {isShown ? opening : <span aria-hidden="true">{'•'.repeat(12)}</span>}
                  {!isShown && <span class="unseen">The opening is hidden.</span>}
                </code>
                <button type="button" class="link" onClick={() => setShown(!isShown)}>
                  {isShown ? 'Hide' : 'Reveal'}
                  <span class="unseen"> the opening</span>
                </button>
                <CopyButton text={opening} label="Copy opening" what="Opening" className="link" />
              </dd>
            </div>
          </dl>
        </>
      ) : (
        <p>The opening, which ties the receipt to the key, is sealed with the key.</p>
      )}
      <div class="actions">
        <button type="button" onClick={() => saveJson(`${id}-receipt.json`, receiptFile(answer))}>
          {opening === undefined ? 'Download receipt' : 'Download receipt and opening'}
        </button>
      </div>
    </section>
  );
}

/** Names the place of the statement, from the proof's line `index <number>`. */
function entryText({ proof }: Receipt): string {
  const index = /^index (\d+)$/m.exec(proof)?.[1];
  return index === undefined ? '' : ` as entry ${index}`;
}

/** Offers to fetch a receipt that no checkpoint covered in time. */
function Pending({ id }: { id: string }) {
  const { call } = useSession();
  const { noteReceipt } = useCustody();
  const [isWorking, setWorking] = useState(false);
  const [error, setError] = useState<unknown>();
  const get = async () => {
    if (isWorking) return;
    setWorking(true);
    setError(undefined);
    try {
      const { receipt } = await call((client) => client.receipt(id));
      noteReceipt(id, receipt);
    } catch (failure) {
      setError(failure);
      setWorking(false);
    }
  };
  return (
    <>
      <p>
        The log had not published the record of this key in time. The key is recorded all the same.
      </p>
      <div class="actions">
        <button type="button" aria-disabled={isWorking} onClick={() => void get()}>
          {isWorking ? 'Getting the receipt…' : 'Get the receipt'}
        </button>
      </div>
      {error !== undefined && <Notice error={error} retry={() => void get()} />}
    </>
  );
}
