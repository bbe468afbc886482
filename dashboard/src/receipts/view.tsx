/** Receipts: verifies a receipt on this page. Nothing of it is sent anywhere. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type EvidenceReport, loadVerifier } from '../api.ts';
import { SecretField } from '../components/secret-field.tsx';
import { TextArea } from '../components/text-area.tsx';
import { type PolicyChoice, PolicyField, policyText, SERVERS_POLICY } from './policy.tsx';
import { hasReceipt, keyIdOf, partsOf, type ReceiptFile, readText } from './read-file.ts';
import { titleOf, Verdict, type Verified } from './verdict.tsx';

const WITH_REPORT = 'The file also has a nist_report, which is checked too.';

interface Form extends PolicyChoice {
  readonly receipt: string;
  readonly key: string;
  readonly opening: string;
  /** Of the file that the receipt came from. */
  readonly report: EvidenceReport | undefined;
}

const EMPTY: Form = {
  ...SERVERS_POLICY,
  receipt: '',
  key: '',
  opening: '',
  report: undefined,
};

/** Fills in a file. If it has no key or opening, those in the form stay, unless they belong to the receipt of another key. */
function filled(form: Form, { receipt, report, ...file }: ReceiptFile): Form {
  const isSameKey = form.receipt === '' || keyIdOf(form.receipt) === keyIdOf(receipt);
  const { key, opening } = isSameKey ? form : EMPTY;
  return { ...form, receipt, report, key: file.key ?? key, opening: file.opening ?? opening };
}

export function ReceiptsView() {
  const [form, setForm] = useState(EMPTY);
  const [isWorking, setWorking] = useState(false);
  const [verified, setVerified] = useState<Verified>();
  const [failure, setFailure] = useState<string>();
  const panel = useRef<HTMLElement>(null);
  /** Counts changes, so that no verdict on an earlier form appears beside a later one. */
  const changes = useRef(0);
  useEffect(() => void loadVerifier().catch(() => undefined), []);

  const update = (next: (before: Form) => Form) => {
    changes.current += 1;
    setForm(next);
    setWorking(false);
    setVerified(undefined);
    setFailure(undefined);
  };
  const change = (fields: Partial<Form>) => update((before) => ({ ...before, ...fields }));
  const take = async (file: File, use: (text: string) => void) => {
    const text = await readText(file);
    if (text === null) setFailure('The file is larger than 4 MiB, so it is no receipt or policy.');
    else use(text);
  };
  const use = (text: string) => update((before) => filled(before, partsOf(text)));
  const takeReceipt = (file: File) => void take(file, use);
  const isOver = useDrop(takeReceipt);

  const verify = async () => {
    if (form.receipt.trim() === '' || isWorking) return;
    update((before) => before);
    setWorking(true);
    const verifiedForm = changes.current;
    const outcome = await verifyForm(form).catch((error: Error) => error.message);
    if (changes.current !== verifiedForm) return;
    setWorking(false);
    if (typeof outcome === 'string') setFailure(outcome);
    else setVerified(outcome);
  };
  const clear = () => {
    update(() => EMPTY);
    // The button is now disabled, so the focus must move.
    panel.current?.querySelector('textarea')?.focus();
  };

  return (
    <>
      <section ref={panel} class={isOver ? 'panel over' : 'panel'} aria-label="What to verify">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void verify();
          }}
        >
          <TextArea
            label="Receipt"
            value={form.receipt}
            accept=".receipt,.json,application/json"
            note={form.report ? WITH_REPORT : 'Or drop the file on this page.'}
            onInput={(receipt) =>
              hasReceipt(receipt) ? use(receipt) : change({ receipt, report: undefined })
            }
            onFile={takeReceipt}
          />
          <PolicyField
            choice={form}
            onChange={change}
            onFile={(file) => void take(file, (policy) => change({ policy }))}
          />
          <div class="order">
            <SecretField
              label="Key"
              value={form.key}
              isOptional={true}
              note="To check that the receipt is for this key. It stays on this page."
              onInput={(key) => change({ key })}
            />
            <SecretField
              label="Opening"
              value={form.opening}
              isOptional={true}
              note="“opening” as returned with the key. Needed with the key."
              onInput={(opening) => change({ opening })}
            />
          </div>
          <div class="actions">
            <button
              type="submit"
              class="primary"
              disabled={form.receipt.trim() === ''}
              aria-disabled={isWorking}
            >
              {isWorking ? 'Verifying…' : 'Verify'}
            </button>
            <button type="button" disabled={form === EMPTY} onClick={clear}>
              Clear
            </button>
            <span class="note">This page verifies. Nothing that you enter is sent anywhere.</span>
          </div>
        </form>
      </section>
      {failure !== undefined && (
        <div class="notice bad" role="alert">
          <h3>The receipt was not verified</h3>
          <p>{failure}</p>
        </div>
      )}
      <p class="unseen" role="status">
        {isWorking ? 'Verifying the receipt.' : verified ? `${titleOf(verified)}.` : ''}
      </p>
      {verified && <Verdict verified={verified} />}
    </>
  );
}

/** Throws `Error` with a sentence for the reader. */
async function verifyForm({ receipt, key, opening, report, ...choice }: Form): Promise<Verified> {
  const [verifyReceipt, text] = await Promise.all([loadVerifier(), policyText(choice)]);
  const given = { key: key.trim(), opening: opening.trim(), policy: text.trim() };
  const verdict = await verifyReceipt(receipt, {
    ...(given.policy !== '' && { policy: text }),
    // The file of "Download receipt and opening" has no key: an opening alone is no mistake of the reader.
    ...(given.key !== '' && { key: given.key, opening: given.opening || undefined }),
    ...(report !== undefined && { nistReport: report }),
  });
  return { verdict, isServersPolicy: choice.source === 'server' };
}

/** Takes files that are dropped anywhere on the page: the browser would open them in its place. */
function useDrop(onFile: (file: File) => void): boolean {
  const [isOver, setOver] = useState(false);
  const latest = useRef(onFile);
  latest.current = onFile;
  useEffect(() => {
    const over = (event: DragEvent) => {
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      const file = event.dataTransfer?.files[0];
      if (file) latest.current(file);
    };
    document.addEventListener('dragover', over);
    document.addEventListener('dragleave', leave);
    document.addEventListener('drop', drop);
    return () => {
      document.removeEventListener('dragover', over);
      document.removeEventListener('dragleave', leave);
      document.removeEventListener('drop', drop);
    };
  }, []);
  return isOver;
}
