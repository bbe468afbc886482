/** Fields for labels: one row for each, with buttons that add and remove rows. */
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { type Label, MAX_LABELS } from '../labels.ts';

interface LabelFieldsProps {
  readonly legend: string;
  readonly labels: readonly Label[];
  readonly note?: string;
  /** What is wrong with them, if anything is. */
  readonly problem?: string | undefined;
  onChange(labels: readonly Label[]): void;
}

export function LabelFields({ legend, labels, note, problem, onChange }: LabelFieldsProps) {
  const id = useId();
  const box = useRef<HTMLFieldSetElement>(null);
  /** Where the focus goes after a row was added or removed. */
  const next = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (next.current) box.current?.querySelector<HTMLElement>(next.current)?.focus();
    next.current = undefined;
  });
  const add = () => {
    next.current = 'li:last-child input';
    onChange([...labels, { name: '', value: '' }]);
  };
  const remove = (place: number) => {
    next.current = 'button.add';
    onChange(labels.filter((_, i) => i !== place));
  };

  const change = (place: number, fields: Partial<Label>) =>
    onChange(labels.map((label, i) => (i === place ? { ...label, ...fields } : label)));
  const field = (place: number, which: keyof Label) => (
    <label>
      <span class="unseen">
        {which === 'name' ? 'Name' : 'Value'} of label {place + 1}
      </span>
      <input
        type="text"
        value={labels[place]?.[which]}
        placeholder={which}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${id}-problem`}
        onInput={(event) => change(place, { [which]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <fieldset ref={box} class="field labels" aria-describedby={note && `${id}-note`}>
      <legend>{legend}</legend>
      {labels.length > 0 && (
        <ul>
          {labels.map((_, place) => (
            <li key={place}>
              {field(place, 'name')}
              {field(place, 'value')}
              <button type="button" onClick={() => remove(place)}>
                Remove<span class="unseen"> label {place + 1}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {labels.length < MAX_LABELS && (
        <button type="button" class="link add" onClick={add}>
          {labels.length === 0 ? 'Add a label' : 'Add another label'}
        </button>
      )}
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
      {note && (
        <p class="note" id={`${id}-note`}>
          {note}
        </p>
      )}
    </fieldset>
  );
}
