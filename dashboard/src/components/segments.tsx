/** Radio buttons, side by side, that look like one control. */
import { useId } from 'preact/hooks';

interface SegmentsProps<T extends string | number> {
  readonly legend: string;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly value: T;
  readonly isLegendHidden?: boolean;
  onChange(value: T): void;
}

export function Segments<T extends string | number>({
  legend,
  options,
  value,
  isLegendHidden = false,
  onChange,
}: SegmentsProps<T>) {
  const name = useId();
  return (
    <fieldset class="field">
      <legend class={isLegendHidden ? 'unseen' : undefined}>{legend}</legend>
      <div class="segments">
        {options.map((option) => (
          <label key={option.value}>
            <input
              type="radio"
              name={name}
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
