/** Asks before a key is lost. The answer that loses nothing has the focus. */
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Loss } from './custody.tsx';

interface LossDialogProps {
  readonly loss: Loss;
  /** True if the page shows a key without a copy. */
  readonly isUncopied: boolean;
  /** True if a generate call is in progress. */
  readonly isWorking: boolean;
  onAnswer(isAgreed: boolean): void;
}

const TITLES: Readonly<Record<Loss, string>> = {
  replace: 'Replace a key without a copy?',
  forget: 'Forget a key without a copy?',
  'forget-api-key': 'Forget the API key and the generated key?',
};

const AGREEMENTS: Readonly<Record<Loss, string>> = {
  replace: 'Generate and replace it',
  forget: 'Forget it',
  'forget-api-key': 'Forget both',
};

const CONSEQUENCES: Readonly<Record<Loss, string>> = {
  replace:
    'The new key replaces it on arrival, and you cannot get it back. If no key arrives, this one stays.',
  forget: 'You cannot get it back.',
  'forget-api-key': 'The page forgets it together with the API key. You cannot get it back.',
};

function situation(isUncopied: boolean, isWorking: boolean): string {
  if (isUncopied) return 'You have neither copied nor downloaded the key on this page.';
  return isWorking ? 'The service is generating a key.' : 'No key without a copy is left.';
}

export function LossDialog({ loss, isUncopied, isWorking, onAnswer }: LossDialogProps) {
  const id = useId();
  const box = useRef<HTMLDialogElement>(null);
  const isAnswered = useRef(false);
  useLayoutEffect(() => box.current?.showModal(), []);
  /** Closes first: this returns the focus to the button that opened the dialog, before the answer moves it. */
  const answer = (isAgreed: boolean) => {
    if (isAnswered.current) return;
    isAnswered.current = true;
    box.current?.close();
    onAnswer(isAgreed);
  };
  /** Ignores the second click of a double click on the button that opened the dialog. */
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
