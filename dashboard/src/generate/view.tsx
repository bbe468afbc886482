/** Generate: what to make, the key once, and the evidence for it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { GeneratedKey } from '../api.ts';
import { Notice } from '../components/notice.tsx';
import { useSession } from '../session.tsx';
import { Evidence } from './evidence.tsx';
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
        {isWorking ? 'Generating a key.' : made ? 'The key is ready, and hidden.' : ''}
      </p>
      {error !== undefined && (
        <Notice error={error} retry={() => void generate()} aftermath={AFTERMATH} />
      )}
      {made && (
        <>
          <SecretKey key={made.answer.key_id} made={made} onForget={() => setMade(undefined)} />
          <Evidence made={made} />
        </>
      )}
      {!made && !isWorking && error === undefined && <Explanation />}
    </>
  );
}

function Explanation() {
  return (
    <section class="panel plain" aria-labelledby="how-title">
      <h2 id="how-title">What happens</h2>
      <ol class="steps">
        <li>
          48 bytes are drawn from the operating system for this key, and from the source you name.
        </li>
        <li>They reseed a CTR_DRBG (AES-256, SP 800-90A), whose output is modulated.</li>
        <li>With validation, the 15 tests of SP 800-22 run on 2²⁰ bits of the very stream.</li>
        <li>The key is cut from the bits that follow. A record without the key becomes durable.</li>
        <li>Then the key is shown here, once. Each key is one request of the month’s quota.</li>
      </ol>
    </section>
  );
}
