/** Fields for the labels and the expiry of a new key. */
import { useId } from 'preact/hooks';
import { Choice } from '../components/choice.tsx';
import { LabelFields } from '../components/label-fields.tsx';
import type { Ends, EndsProblems } from './ends.ts';

const EXPIRIES = [
  ...['1 day', '7 days', '30 days', '90 days', '365 days'].map((label) => ({
    value: label.replace(/ .*/, ''),
    label: `in ${label}`,
  })),
  { value: 'at', label: 'at a time …' },
];

interface EndsFieldsProps {
  readonly ends: Ends;
  readonly problems: EndsProblems;
  onChange(fields: Partial<Ends>): void;
}

export function EndsFields({ ends, problems, onChange }: EndsFieldsProps) {
  const id = useId();
  const { labels, expiry, expiresAt } = ends;
  return (
    <>
      <LabelFields
        legend="Labels"
        labels={labels}
        problem={problems.labels}
        note="To find the key again, such as env and prod. The service stores and shows them: no secrets."
        onChange={(rows) => onChange({ labels: rows })}
      />
      <div class="ends">
        <Choice
          label="Expires"
          none="never"
          value={expiry}
          options={EXPIRIES}
          onChange={(chosen) => onChange({ expiry: chosen })}
        />
        {expiry === 'at' && (
          <div class="field at">
            <label for={id}>Expires at</label>
            <input
              id={id}
              type="datetime-local"
              max="9999-12-31T23:59"
              value={expiresAt}
              aria-invalid={problems.expiry !== undefined}
              aria-describedby={problems.expiry === undefined ? undefined : `${id}-problem`}
              onInput={(event) => onChange({ expiresAt: event.currentTarget.value })}
            />
            {problems.expiry !== undefined && (
              <p class="problem" id={`${id}-problem`} role="alert">
                {problems.expiry}
              </p>
            )}
          </div>
        )}
        <p class="note">From then on, validation calls the key invalid.</p>
      </div>
    </>
  );
}
