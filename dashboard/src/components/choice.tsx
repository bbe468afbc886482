/** A drop-down list with its label. The first choice stands for "any". */
import { useId } from 'preact/hooks';

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  /** Text of the choice with the empty value. */
  readonly none: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  onChange(value: string): void;
}

export function Choice({ label, value, none, options, onChange }: ChoiceProps) {
  const id = useId();
  const isKnown = value === '' || options.some((option) => option.value === value);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{none}</option>
        {!isKnown && <option value={value}>{value}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}
