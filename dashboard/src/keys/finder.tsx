/**
 * The search field and the chips above the list. A secret that was pasted by mistake gets neither into the address nor to
 * the service.
 */
import { useId, useState } from 'preact/hooks';
import { labelProblem } from '../labels.ts';
import { openHash } from '../use-route.ts';
import {
  expiringQuery,
  type KeyQuery,
  kindOf,
  NO_FILTERS,
  type Wanted,
  wantedBy,
} from './query.ts';

const PROBLEMS: Readonly<Record<Exclude<Wanted, 'key-id' | 'label'>, string>> = {
  key: 'This looks like a key, so the page dropped it and sent nothing. To check a key, use Validate.',
  'api-key': 'This looks like an API key, so the page dropped it and sent nothing.',
  unknown:
    'Search for a key ID, “phm_” and a decimal number, or for a label and its value, such as env:prod.',
};

interface FinderProps {
  readonly query: KeyQuery;
  onApply(query: KeyQuery): void;
}

/** Returns what is wrong with a search, as a sentence; undefined if nothing is. */
function problemOf(text: string): string | undefined {
  const wanted = wantedBy(text);
  if (wanted === 'key-id') return undefined;
  if (wanted !== 'label') return PROBLEMS[wanted];
  const colon = text.indexOf(':');
  return labelProblem({ name: text.slice(0, colon), value: text.slice(colon + 1) });
}

export function Finder({ query, onApply }: FinderProps) {
  const id = useId();
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const submit = (event: Event) => {
    event.preventDefault();
    const given = text.trim();
    const wanted = wantedBy(given);
    const wrong = problemOf(given);
    setProblem(wrong);
    // What may be a secret does not stay in the field either.
    if (wrong === undefined || wanted === 'key' || wanted === 'api-key') setText('');
    if (wrong !== undefined) return;
    if (wanted === 'key-id') openHash(`#/keys/${given}`);
    else onApply({ ...query, label: [...new Set([...query.label, given])], cursor: '' });
  };
  return (
    <search>
      <form class="find" onSubmit={submit}>
        <label class="unseen" for={id}>
          Search by key ID or label
        </label>
        <input
          id={id}
          type="text"
          value={text}
          placeholder="phm_… or label:value"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : `${id}-problem`}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setProblem(undefined);
          }}
        />
        <button type="submit" disabled={text.trim() === ''}>
          Search
        </button>
        <Kinds query={query} onApply={onApply} />
      </form>
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
      {query.label.length > 0 && <Labels query={query} onApply={onApply} />}
    </search>
  );
}

const NO_KIND = { status: '', expires_before: '', revoked: '', cursor: '' };

/** Chips for what most readers look for. A second press shows all keys again. */
function Kinds({ query, onApply }: FinderProps) {
  const chosen = kindOf(query);
  const kinds = [
    { kind: 'active', label: 'Active', fields: { status: 'active' } },
    { kind: 'expiring', label: 'Expiring', fields: () => expiringQuery(Date.now()) },
    { kind: 'revoked', label: 'Revoked', fields: { revoked: 'true' } },
  ] as const;
  return (
    <fieldset class="kinds">
      <legend class="unseen">Which keys</legend>
      {kinds.map(({ kind, label, fields }) => (
        <button
          key={kind}
          type="button"
          aria-pressed={chosen === kind}
          title={kind === 'expiring' ? 'Active, and expires within 30 days' : undefined}
          onClick={() =>
            onApply({
              ...query,
              ...NO_KIND,
              ...(chosen !== kind && (typeof fields === 'function' ? fields() : fields)),
            })
          }
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}

/** The labels that a key must have, each with a button that lets go of it. */
function Labels({ query, onApply }: FinderProps) {
  return (
    <ul class="chips wanted" aria-label="Labels searched for">
      {query.label.map((label) => (
        <li key={label}>
          {label}{' '}
          <button
            type="button"
            class="link"
            aria-label={`Remove ${label}`}
            onClick={() =>
              onApply({ ...query, label: query.label.filter((one) => one !== label), cursor: '' })
            }
          >
            ×
          </button>
        </li>
      ))}
      {query.label.length > 1 && (
        <li class="more">
          <button type="button" class="link" onClick={() => onApply(NO_FILTERS)}>
            Remove all
          </button>
        </li>
      )}
    </ul>
  );
}
