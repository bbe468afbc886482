/** The form for a new key: length, labels, expiry and delivery; what few need is folded away. */
import { useId, useState } from 'preact/hooks';
import { ignoreDoubleClick } from '../components/double-click.ts';
import { Segments } from '../components/segments.tsx';
import { useHealth } from '../health.tsx';
import { offeredSources, sourceText } from '../source-names.ts';
import { EndsFields } from './ends-fields.tsx';
import { DEFAULT_ORDER, type Order, orderProblems } from './order.ts';
import { readRecipient } from './recipient.ts';
import { RecipientField } from './recipient-field.tsx';

const LEVELS = ([128, 256, 384] as const).map((value) => ({ value, label: `${value} bits` }));

const DELIVERIES = [
  { value: 'plain', label: 'plaintext' },
  { value: 'sealed', label: 'sealed to a recipient' },
] as const;

const MODULATIONS = (['phase', 'frequency', 'amplitude', 'none'] as const).map((value) => ({
  value,
  label: value,
}));

interface GenerateFormProps {
  readonly order: Order;
  readonly isWorking: boolean;
  /** Progress of the last order. It is visible while the call is in progress; screen readers always get it. */
  readonly status: string;
  onChange(order: Order): void;
  onSubmit(): void;
}

export function GenerateForm({ order, isWorking, status, onChange, onSubmit }: GenerateFormProps) {
  const [isChecked, setChecked] = useState(false);
  const [dropped, setDropped] = useState<string>();
  const problems = isChecked ? orderProblems(order, Date.now()) : {};
  const submit = (event: Event) => {
    event.preventDefault();
    const isWrong = Object.values(orderProblems(order, Date.now())).some((one) => one);
    setChecked(isWrong);
    if (!isWorking && !isWrong) onSubmit();
  };
  /** A secret that was pasted by mistake does not stay in the field, and the reader is told at once. */
  const takeRecipient = (recipient: string) => {
    const read = readRecipient(recipient);
    const isSecret = 'isSecret' in read;
    if (recipient !== '') setDropped(isSecret ? read.problem : undefined);
    onChange({ ...order, recipient: isSecret ? '' : recipient });
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
        <EndsFields
          ends={order}
          problems={problems}
          onChange={(fields) => onChange({ ...order, ...fields })}
        />
        <Segments<'plain' | 'sealed'>
          legend="Deliver as"
          options={DELIVERIES}
          value={order.isSealed ? 'sealed' : 'plain'}
          onChange={(delivery) => onChange({ ...order, isSealed: delivery === 'sealed' })}
        />
        {order.isSealed && (
          <RecipientField
            value={order.recipient}
            problem={dropped ?? problems.recipient}
            onInput={takeRecipient}
          />
        )}
        <Advanced order={order} onChange={onChange} />
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

function isAdvanced({ modulation, source, isValidated, hasReceipt }: Order): boolean {
  return modulation !== DEFAULT_ORDER.modulation || source !== '' || isValidated || hasReceipt;
}

/** What most keys do without. Open from the start if the order has any of it. */
function Advanced({ order, onChange }: Pick<GenerateFormProps, 'order' | 'onChange'>) {
  const id = useId();
  const [isOpen] = useState(() => isAdvanced(order));
  return (
    <details class="unfold advanced" open={isOpen}>
      <summary>Advanced: source, modulation, tests, receipt</summary>
      <div class="order">
        <SourceField order={order} onChange={onChange} />
        <Segments
          legend="Modulation"
          options={MODULATIONS}
          value={order.modulation}
          onChange={(modulation) => onChange({ ...order, modulation })}
        />
        <div class="field">
          <span class="label" id={`${id}-with`}>
            With the key
          </span>
          <label class="check">
            <input
              type="checkbox"
              checked={order.isValidated}
              aria-describedby={`${id}-with ${id}-note`}
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
          <p class="note" id={`${id}-note`}>
            The tests make no key stronger.
          </p>
        </div>
      </div>
    </details>
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
