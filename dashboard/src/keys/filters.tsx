/** The filters of the list of keys. Applying them changes the address, which the list follows. */
import { useEffect, useId, useState } from 'preact/hooks';
import { Choice } from '../components/choice.tsx';
import { SOURCE_NAMES } from '../source-names.ts';
import {
  activeFilters,
  fromLocalInput,
  hashOf,
  type KeyQuery,
  NO_FILTERS,
  toLocalInput,
  wantedBy,
} from './query.ts';
import { STATUSES } from './words.ts';

/** The filters as the reader edits them. */
type Draft = Omit<KeyQuery, 'label' | 'cursor'>;

const LEVELS = ['128', '256', '384'].map((value) => ({ value, label: `${value} bits` }));

const EVIDENCE = [
  { value: 'PASS', label: 'tested' },
  { value: 'none', label: 'not tested' },
];

const asOptions = (values: readonly string[]) => values.map((value) => ({ value, label: value }));

function draftOf({ label: _label, cursor: _cursor, ...query }: KeyQuery): Draft {
  return {
    ...query,
    created_after: toLocalInput(query.created_after),
    created_before: toLocalInput(query.created_before),
  };
}

function queryOf(draft: Draft, before: KeyQuery): KeyQuery {
  /** Keeps a time that the field shows without its seconds. */
  const time = (name: 'created_after' | 'created_before') =>
    toLocalInput(before[name]) === draft[name] ? before[name] : fromLocalInput(draft[name]);
  return {
    ...draft,
    created_after: time('created_after'),
    created_before: time('created_before'),
    api_key_id: draft.api_key_id.trim(),
    label: before.label,
    cursor: '',
  };
}

/** Filters that only this form shows. */
const FOLDED = [
  'created_after',
  'created_before',
  'security_level',
  'source',
  'evidence',
  'api_key_id',
];

interface FiltersProps {
  readonly query: KeyQuery;
  /** Opens a list. */
  onApply(query: KeyQuery): void;
}

export function Filters({ query, onApply }: FiltersProps) {
  const [draft, setDraft] = useState(() => draftOf(query));
  const [isChecked, setChecked] = useState(false);
  const hash = hashOf({ ...query, cursor: '' });
  useEffect(() => {
    setDraft(draftOf(query));
    setChecked(false);
  }, [hash]);

  const active = activeFilters(query);
  const isSecret = wantedBy(draft.api_key_id) !== 'unknown';
  const set = (fields: Partial<Draft>) => setDraft((before) => ({ ...before, ...fields }));
  const submit = (event: Event) => {
    event.preventDefault();
    setChecked(true);
    if (!isSecret) onApply(queryOf(draft, query));
  };
  return (
    <details class="unfold filters" open={active.some((name) => FOLDED.includes(name))}>
      <summary>More filters: time, length, source, tests, API key</summary>
      <form class="order" aria-label="Filters" onSubmit={submit}>
        <Choice
          label="Status"
          none="any"
          value={draft.status}
          options={asOptions(STATUSES)}
          onChange={(status) => set({ status })}
        />
        <TimeField
          label="Generated from"
          value={draft.created_after}
          onInput={(time) => set({ created_after: time })}
        />
        <TimeField
          label="Generated before"
          value={draft.created_before}
          onInput={(time) => set({ created_before: time })}
        />
        <Choice
          label="Length"
          none="any"
          value={draft.security_level}
          options={LEVELS}
          onChange={(level) => set({ security_level: level })}
        />
        <Choice
          label="Entropy source"
          none="any"
          value={draft.source}
          options={asOptions(SOURCE_NAMES)}
          onChange={(source) => set({ source })}
        />
        <Choice
          label="Tests"
          none="any"
          value={draft.evidence}
          options={EVIDENCE}
          onChange={(evidence) => set({ evidence })}
        />
        <ApiKeyField
          value={draft.api_key_id}
          isSecret={isChecked && isSecret}
          onInput={(id) => set({ api_key_id: id })}
        />
        <div class="actions">
          <button type="submit">Apply filters</button>
          {active.length > 0 && (
            <button type="button" class="quiet" onClick={() => onApply(NO_FILTERS)}>
              Clear filters
            </button>
          )}
        </div>
      </form>
    </details>
  );
}

interface TimeFieldProps {
  readonly label: string;
  /** As the field has it, in the reader's time zone. */
  readonly value: string;
  onInput(value: string): void;
}

function TimeField({ label, value, onInput }: TimeFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        max="9999-12-31T23:59"
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  );
}

interface ApiKeyFieldProps {
  readonly value: string;
  /** True if the text is a secret. */
  readonly isSecret: boolean;
  onInput(value: string): void;
}

function ApiKeyField({ value, isSecret, onInput }: ApiKeyFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>ID of the API key</label>
      <input
        id={id}
        type="text"
        class="mono"
        value={value}
        maxLength={100}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        aria-invalid={isSecret}
        aria-describedby={`${id}-note`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {isSecret ? (
        <p class="problem" id={`${id}-note`} role="alert">
          This looks like a secret. Enter the ID of the API key, not the API key.
        </p>
      ) : (
        <p class="note" id={`${id}-note`}>
          As in the record of a key, such as <code>key_…</code>
        </p>
      )}
    </div>
  );
}
