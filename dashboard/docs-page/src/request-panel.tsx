/** One request: its inputs, its program in three languages, and its live answer. */
import { useState } from 'preact/hooks';
import { type Answer, ApiAnswer } from './api-answer.tsx';
import { CodeBlock } from './code-block.tsx';
import { CopyButton } from './copy-button.tsx';
import { fillExample, noteAnswer } from './flow.ts';
import { type SharedState, sentKey, shared, shownCaller, useShared } from './shared.ts';
import { bodyText, type Call, type Filled, LANGUAGES, programOf, targetOf } from './snippets.ts';

/** A server that does not answer within this time is not going to. */
const PATIENCE_MS = 60_000;

export function RequestPanel({ call }: { readonly call: Call }) {
  const state = useShared();
  const [example, setExample] = useState(0);
  const [own, setOwn] = useState<Filled>({});
  const [answer, setAnswer] = useState<Answer | 'waiting' | null>(null);
  const filled = { ...fillExample(call, example, state.lastKey), ...own };
  const program = programOf(state.language, call, shownCaller(state), filled);
  const send = async () => {
    setAnswer('waiting');
    setAnswer(await sendRequest(call, filled, state));
  };
  const change = (part: Filled) => setOwn({ ...own, ...part });
  const pick = (next: number) => {
    setExample(next);
    const { body: _, ...others } = own;
    setOwn(others);
  };
  return (
    <section class="panel" aria-label={`Request: ${call.id}`}>
      <Inputs {...{ call, filled, change, example }} pick={pick} />
      <div class="languages">
        {LANGUAGES.map((language) => (
          <button
            type="button"
            key={language}
            aria-pressed={language === state.language}
            onClick={() => shared.change({ language })}
          >
            {language}
          </button>
        ))}
        <CopyButton text={program} />
      </div>
      <CodeBlock text={program} />
      <SendButton {...{ call, state }} isWaiting={answer === 'waiting'} send={() => void send()} />
      <ApiAnswer answer={answer} />
    </section>
  );
}

interface InputsProps {
  readonly call: Call;
  readonly filled: Filled;
  readonly example: number;
  readonly change: (part: Filled) => void;
  readonly pick: (example: number) => void;
}

function Inputs({ call, filled, example, change, pick }: InputsProps) {
  const body = bodyText(call, filled);
  return (
    <div class="inputs">
      {call.path.includes('{key_id}') && (
        <TextInput
          name="key_id"
          placeholder="of a key that you generate here"
          value={filled.keyId ?? ''}
          change={(keyId) => change({ keyId })}
        />
      )}
      {call.hasQuery && (
        <TextInput
          name="Query"
          placeholder="name=value&amp;name=value"
          value={filled.query ?? ''}
          change={(query) => change({ query })}
        />
      )}
      {call.examples.length > 1 && (
        <label>
          <span>Example</span>
          <select
            value={example}
            onChange={({ currentTarget }) => pick(Number(currentTarget.value))}
          >
            {call.examples.map(({ name }, place) => (
              <option key={name} value={place}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {body !== undefined && (
        <label>
          <span>Body</span>
          <textarea
            spellcheck={false}
            rows={Math.min(8, Math.max(2, Math.ceil(body.length / 44)))}
            value={body}
            onInput={({ currentTarget }) => change({ body: currentTarget.value })}
          />
        </label>
      )}
    </div>
  );
}

interface TextInputProps {
  readonly name: string;
  readonly placeholder: string;
  readonly value: string;
  readonly change: (text: string) => void;
}

function TextInput({ name, placeholder, value, change }: TextInputProps) {
  return (
    <label>
      <span>{name}</span>
      <input
        spellcheck={false}
        autocomplete="off"
        placeholder={placeholder}
        value={value}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    </label>
  );
}

interface SendProps {
  readonly call: Call;
  readonly state: SharedState;
  readonly isWaiting: boolean;
  readonly send: () => void;
}

function SendButton({ call, state, isWaiting, send }: SendProps) {
  if (state.server === null) return null;
  const lacksKey = call.isKeyed && sentKey(state) === '';
  return (
    <p class="send">
      <button
        type="button"
        class="primary"
        aria-disabled={isWaiting || lacksKey}
        onClick={() => {
          if (!isWaiting && !lacksKey) send();
        }}
      >
        {isWaiting ? 'Sending …' : 'Send'}
      </button>
      {lacksKey && <a href="#session">First enter your API key.</a>}
      {!lacksKey && call.isKeyed && (
        <span class="note">with {state.apiKey === '' ? 'the demo key' : 'your API key'}</span>
      )}
    </p>
  );
}

async function sendRequest(call: Call, filled: Filled, state: SharedState): Promise<Answer> {
  const body = bodyText(call, filled);
  const begun = performance.now();
  try {
    const answer = await fetch(`${state.server?.address ?? ''}${targetOf(call, filled)}`, {
      method: call.method,
      headers: {
        ...(call.isKeyed && { 'X-API-Key': sentKey(state) }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
      cache: 'no-store',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const text = await answer.text();
    if (answer.ok) noteAnswer(text);
    return { status: answer.status, ms: Math.round(performance.now() - begun), text };
  } catch {
    return { status: null, ms: Math.round(performance.now() - begun), text: '' };
  }
}
