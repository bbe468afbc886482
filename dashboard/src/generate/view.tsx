/** Generate: the form, the key, shown once, and the results of its tests. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { Unfold } from '../components/figure.tsx';
import { Notice } from '../components/notice.tsx';
import { type Custody, type Made, useCustody } from './custody.tsx';
import { Evidence } from './evidence.tsx';
import { Explanation } from './explanation.tsx';
import { GenerateForm } from './form.tsx';
import { Next } from './next.tsx';
import { DEFAULT_ORDER } from './order.ts';
import { ReceiptPanel } from './receipt.tsx';
import { RequestCode } from './request-code.tsx';
import { SealedKey } from './sealed-key.tsx';
import { isPlain, SecretKey } from './secret-key.tsx';
import { testsText } from './tests-verdict.tsx';

const AFTERMATH =
  'The service may have received the request. If so, it counts against the quota and its key is lost: the service never shows a key twice.';

const UNCHANGED = 'The key that is shown is the previous one. It has not changed.';

function statusText({ made, isWorking, error }: Custody): string {
  if (isWorking) return 'Generating a key…';
  if (!made || error !== undefined) return '';
  const { nist_report: report } = made.answer;
  const tests = report ? ` ${testsText(report)}.` : '';
  return `The key is ready and ${isPlain(made.answer) ? 'hidden' : 'sealed'}.${tests}`;
}

export function GenerateView() {
  const custody = useCustody();
  const { made, isWorking, error, leaveView } = custody;
  const [order, setOrder] = useState(made?.order ?? DEFAULT_ORDER);
  useLayoutEffect(() => leaveView, [leaveView]);
  const generate = () => custody.generate(order);
  return (
    <>
      <div class={made ? 'generate made' : 'generate'}>
        <div class="ask">
          <GenerateForm
            order={order}
            isWorking={isWorking}
            status={statusText(custody)}
            onChange={setOrder}
            onSubmit={generate}
          />
          {error !== undefined && (
            <Notice
              error={error}
              retry={generate}
              aftermath={AFTERMATH}
              unchanged={made && UNCHANGED}
            />
          )}
        </div>
        <div class="answer">
          {made ? <MadeKey key={made.answer.key_id} made={made} /> : <RequestCode order={order} />}
        </div>
      </div>
      {made && (
        <>
          <ReceiptPanel key={`${made.answer.key_id} receipt`} made={made} />
          <Evidence made={made} />
        </>
      )}
      {!made && !isWorking && error === undefined && <Explanation />}
    </>
  );
}

function MadeKey({ made: { answer, order } }: { made: Made }) {
  return (
    <>
      {isPlain(answer) ? <SecretKey answer={answer} /> : <SealedKey answer={answer} />}
      <Next answer={answer} />
      <Unfold summary="The request as code">{() => <RequestCode order={order} />}</Unfold>
    </>
  );
}
