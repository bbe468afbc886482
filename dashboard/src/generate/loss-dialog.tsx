/** The question before a key is lost. The answer that loses nothing has the focus. */
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Loss } from './custody.tsx';

export interface LossDialogProps {
  readonly loss: Loss;
  /** Whether a key without a copy is shown. */
  readonly isUncopied: boolean;
  /** Whether a key is on its way. */
  readonly isWorking: boolean;
  onAnswer(isAgreed: boolean): void;
}

const TITLES: Readonly<Record<Loss, string>> = {
  replace: 'Replace a key that has no copy?',
  forget: 'Forget a key that has no copy?',
  'forget-api-key': 'Forget the API key, and a key with it?',
};

const AGREEMENTS: Readonly<Record<Loss, string>> = {
  replace: 'Generate and replace it',
  forget: 'Forget it',
  'forget-api-key': 'Forget both',
};

const CONSEQUENCES: Readonly<Record<Loss, string>> = {
  replace:
    'The new key replaces it when it arrives, and nothing brings it back. If no key arrives, it stays.',
  forget: 'Nothing brings it back.',
  'forget-api-key': 'It is forgotten together with the API key. Nothing brings it back.',
};

function situation(isUncopied: boolean, isWorking: boolean): string {
  if (isUncopied) return 'You have neither copied nor downloaded the key on this page.';
  return isWorking ? 'A key is on its way to this page.' : 'By now, no key without a copy is left.';
}

export function LossDialog({ loss, isUncopied, isWorking, onAnswer }: LossDialogProps) {
  const id = useId();
  const box = useRef<HTMLDialogElement>(null);
  const isAnswered = useRef(false);
  useLayoutEffect(() => box.current?.showModal(), []);
  /** Closing gives the focus back to the button that led here, before the answer moves it on. */
  const answer = (isAgreed: boolean) => {
    if (isAnswered.current) return;
    isAnswered.current = true;
    box.current?.close();
    onAnswer(isAgreed);
  };
  /** The second click of a double click on the button that led here is no answer. */
  const answerClick = (event: MouseEvent, isAgreed: boolean) => {
    if (event.detail <= 1) answer(isAgreed);
  };
  return (
    <dialog
      ref={box}
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      onCancel={(event) => {
        event.preventDefault();
        answer(false);
      }}
      onClose={() => answer(false)}
    >
      <h2 id={`${id}-title`}>{TITLES[loss]}</h2>
      <p id={`${id}-text`}>
        {situation(isUncopied, isWorking)} {CONSEQUENCES[loss]}
      </p>
      <div class="actions">
        <button type="button" class="primary" onClick={(event) => answerClick(event, false)}>
          Keep the key
        </button>
        <button type="button" class="danger" onClick={(event) => answerClick(event, true)}>
          {AGREEMENTS[loss]}
        </button>
      </div>
    </dialog>
  );
}
