/** The form for a new key: length, modulation, entropy source, validation, receipt, labels, expiry. */
import { useId, useState } from 'preact/hooks';
import type { GenerateRequest } from '../api.ts';
import { ignoreDoubleClick } from '../components/double-click.ts';
import { Segments } from '../components/segments.tsx';
import { useHealth } from '../health.tsx';
import { offeredSources, sourceText } from '../source-names.ts';
import { type Ends, endFields, endsProblems, NO_ENDS } from './ends.ts';
import { EndsFields } from './ends-fields.tsx';

export interface Order extends Ends {
  readonly level: GenerateRequest['security_level'];
  readonly modulation: NonNullable<GenerateRequest['modulation_type']>;
  /** Name of the source; empty for the server's default. */
  readonly source: string;
  readonly isValidated: boolean;
  readonly hasReceipt: boolean;
}

export const DEFAULT_ORDER: Order = {
  ...NO_ENDS,
  level: 256,
  modulation: 'phase',
  source: '',
  isValidated: true,
  hasReceipt: false,
};

const LEVELS = ([128, 256, 384] as const).map((value) => ({ value, label: `${value} bits` }));

const MODULATIONS = (['phase', 'frequency', 'amplitude', 'none'] as const).map((value) => ({
  value,
  label: value,
}));

/** Returns the request for an order. An expiry in days counts from `nowMs`. */
export function toRequest(order: Order, nowMs: number): GenerateRequest {
  const { level, modulation, source, isValidated, hasReceipt } = order;
  const include = [
    ...(isValidated ? (['nist_report'] as const) : []),
    ...(hasReceipt ? (['receipt'] as const) : []),
  ];
  return {
    security_level: level,
    modulation_type: modulation,
    enable_nist_validation: isValidated,
    ...(include.length > 0 && { include }),
    ...(source !== '' && {
      entropy_source: source as NonNullable<GenerateRequest['entropy_source']>,
    }),
    ...endFields(order, nowMs),
  };
}

interface GenerateFormProps {
  readonly order: Order;
  readonly isWorking: boolean;
  /** Progress of the last order. It is visible while the call is in progress; screen readers always get it. */
  readonly status: string;
  onChange(order: Order): void;
  onSubmit(): void;
}

export function GenerateForm({ order, isWorking, status, onChange, onSubmit }: GenerateFormProps) {
  const id = useId();
  const [isChecked, setChecked] = useState(false);
  const problems = isChecked ? endsProblems(order, Date.now()) : {};
  const submit = (event: Event) => {
    event.preventDefault();
    const { labels, expiry } = endsProblems(order, Date.now());
    const isWrong = labels !== undefined || expiry !== undefined;
    setChecked(isWrong);
    if (!isWorking && !isWrong) onSubmit();
  };
  return (
    <section class="panel" aria-label="What to generate">
      <form class="order" onSubmit={submit}>
        <Segments
          legend="Length"
          options={LEVELS}
          value={order.level}
          onChange={(level) => onChange({ ...order, level })}
        />
        <Segments
          legend="Modulation"
          options={MODULATIONS}
          value={order.modulation}
          onChange={(modulation) => onChange({ ...order, modulation })}
        />
        <SourceField order={order} onChange={onChange} />
        <div class="field">
          <span class="label" id={`${id}-with`}>
            With the key
          </span>
          <label class="check">
            <input
              type="checkbox"
              checked={order.isValidated}
              aria-describedby={`${id}-with`}
              onChange={(event) => onChange({ ...order, isValidated: event.currentTarget.checked })}
            />
            Run the 15 tests
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={order.hasReceipt}
              aria-describedby={`${id}-with`}
              onChange={(event) => onChange({ ...order, hasReceipt: event.currentTarget.checked })}
            />
            Get a receipt
          </label>
        </div>
        <EndsFields
          ends={order}
          problems={problems}
          onChange={(fields) => onChange({ ...order, ...fields })}
        />
        <div class="actions">
          <button
            type="submit"
            class="primary"
            aria-disabled={isWorking}
            onClick={ignoreDoubleClick}
          >
            Generate
          </button>
          <p class={isWorking ? 'note' : 'unseen'} role="status">
            {status}
          </p>
        </div>
      </form>
    </section>
  );
}

function SourceField({ order, onChange }: Pick<GenerateFormProps, 'order' | 'onChange'>) {
  const id = useId();
  const sources = offeredSources(useHealth().data);
  const chosen = sources.find(({ name }) => name === order.source);
  const note =
    order.source === ''
      ? 'Mixed with the operating system’s source, which every key uses.'
      : sourceText(order.source);
  return (
    <div class="field">
      <label for={id}>Entropy source</label>
      <select
        id={id}
        value={order.source}
        aria-describedby={`${id}-note`}
        onChange={(event) => onChange({ ...order, source: event.currentTarget.value })}
      >
        <option value="">the server’s default</option>
        {sources.map(({ name, isReady }) => (
          <option key={name} value={name}>
            {isReady ? name : `${name} (not delivering)`}
          </option>
        ))}
      </select>
      <p class="note" id={`${id}-note`}>
        {chosen && !chosen.isReady
          ? 'This source delivers nothing now: the service will refuse the request.'
          : note}
      </p>
    </div>
  );
}
