/** Generate: what to make, the key once, and the evidence for it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { GeneratedKey } from '../api.ts';
import { Notice } from '../components/notice.tsx';
import { useSession } from '../session.tsx';
import { Evidence } from './evidence.tsx';
import { Explanation } from './explanation.tsx';
import { DEFAULT_ORDER, GenerateForm, type Order, toRequest } from './form.tsx';
import { SecretKey } from './secret-key.tsx';

/** A key with what only this page knows of it. */
export interface Made {
  readonly answer: GeneratedKey;
  readonly order: Order;
  readonly roundTripMs: number;
}

const AFTERMATH =
  'If the request had arrived, it counts against the quota, and its key is lost: no key is ever shown twice.';

function readyText({ nist_report: report }: GeneratedKey): string {
  const tests = report ? ` ${report.tests_passed} of ${report.total_tests} tests passed.` : '';
  return `The key is ready, and hidden.${tests}`;
}

export function GenerateView() {
  const { call } = useSession();
  const [order, setOrder] = useState(DEFAULT_ORDER);
  const [isWorking, setWorking] = useState(false);
  const [made, setMade] = useState<Made>();
  const [error, setError] = useState<unknown>();
  const leaving = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);

  const generate = async () => {
    const controller = new AbortController();
    leaving.current = controller;
    setWorking(true);
    setMade(undefined);
    setError(undefined);
    const from = performance.now();
    try {
      const { signal } = controller;
      const answer = await call((client) => client.generate(toRequest(order), { signal }));
      setMade({ answer, order, roundTripMs: performance.now() - from });
    } catch (failure) {
      if (!controller.signal.aborted) setError(failure);
    } finally {
      setWorking(false);
    }
  };

  /** The button that was pressed goes with the key: the focus needs another place. */
  const forget = () => {
    setMade(undefined);
    document.querySelector<HTMLElement>('h1')?.focus();
  };

  return (
    <>
      <GenerateForm
        order={order}
        isWorking={isWorking}
        hasKey={made !== undefined}
        onChange={setOrder}
        onSubmit={() => void generate()}
      />
      <p class="unseen" role="status">
        {isWorking ? 'Generating a key.' : made ? readyText(made.answer) : ''}
      </p>
      {error !== undefined && (
        <Notice error={error} retry={() => void generate()} aftermath={AFTERMATH} />
      )}
      {made && (
        <>
          <SecretKey key={made.answer.key_id} made={made} onForget={forget} />
          <Evidence made={made} />
        </>
      )}
      {!made && !isWorking && error === undefined && <Explanation />}
    </>
  );
}
