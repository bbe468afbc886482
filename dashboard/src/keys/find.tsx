/** Opens the record of a key by its ID. A secret that was pasted by mistake gets neither into the address nor to the service. */
import { useId, useState } from 'preact/hooks';
import { openHash } from '../use-route.ts';
import { type Wanted, wantedBy } from './query.ts';

const PROBLEMS: Readonly<Record<Exclude<Wanted, 'key-id'>, string>> = {
  key: 'This looks like a key, so the page dropped it and sent nothing. To check a key, use Validate.',
  'api-key': 'This looks like an API key, so the page dropped it and sent nothing.',
  unknown: 'This is no key ID: “phm_” and a decimal number, as generate answers it.',
};

export function Find() {
  const id = useId();
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const submit = (event: Event) => {
    event.preventDefault();
    const given = text.trim();
    const wanted = wantedBy(given);
    setProblem(wanted === 'key-id' ? undefined : PROBLEMS[wanted]);
    if (wanted === 'key-id') openHash(`#/keys/${given}`);
    if (wanted !== 'unknown') setText('');
  };
  return (
    <search>
      <form class="find" onSubmit={submit}>
        <div class="field">
          <label for={id}>Find by key ID</label>
          <div class="secret-field">
            <input
              id={id}
              type="text"
              class="mono"
              value={text}
              placeholder="phm_…"
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
              Find
            </button>
          </div>
          {problem !== undefined && (
            <p class="problem" id={`${id}-problem`} role="alert">
              {problem}
            </p>
          )}
        </div>
      </form>
    </search>
  );
}
