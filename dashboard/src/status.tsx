/** Status: every check of `/health`, failing ones first. */
import type { Health } from './api.ts';
import { wordsFor } from './components/notice.tsx';
import { timeOfDay } from './format.ts';
import { type ServerState, serverState, useHealth } from './health.tsx';
import { sourceText } from './source-names.ts';

const VERDICTS: Readonly<
  Record<Exclude<ServerState, 'gone'>, readonly [title: string, text: string]>
> = {
  asking: ['Checking the server', ''],
  ok: ['Ready', 'The server generates, records and validates keys.'],
  unavailable: ['Not ready', 'A check below is failing. Some requests are refused.'],
  draining: [
    'Shutting down',
    'The server finishes the requests in progress. Send new requests to another server, or wait for the restart.',
  ],
};

const VERDICT_CLASSES: Readonly<Record<ServerState, string>> = {
  asking: '',
  ok: 'good',
  unavailable: 'bad',
  draining: 'bad',
  gone: 'bad',
};

const CHECKS: Readonly<Record<string, readonly [title: string, text: string]>> = {
  entropy: [
    'Entropy for every key',
    'The generators, the operating system’s source and the server’s default source.',
  ],
  generator: [
    'Generators',
    'Each thread that generates keys has one, which is tested while it runs. If one fails, none releases keys until a restart. While one cannot be judged, its keys wait.',
  ],
  ledger: [
    'Ledger',
    'The ledger must accept records and answer look-ups. No key leaves the server before its record is durable.',
  ],
  master_secret: [
    'Master secret',
    'The server must have every version under which keys are generated. If one is missing, the server cannot judge every key: restart it with the whole secret. If its current version is retired, it generates no keys: restart it with another version.',
  ],
  accepting: ['Accepting requests', 'Fails while the server is shutting down.'],
};

/** The failed check that showed the defect of a generator. */
const CAUSES: Readonly<Record<NonNullable<Health['latch']>['cause'], string>> = {
  self_test: 'a self-test of the generator or of the statistical tests failed',
  gate: 'two streams in a row, or three of about 1,000, failed the gate of the statistical tests',
  accumulated:
    'samples of its output add up to a bias or correlation, although each of them may pass',
  screen: 'a sample of its output is clearly biased',
  key_test: 'a key failed one of the exact tests that every key must pass',
  repeated_key: 'a new key repeats one in the ledger, or a part of a recent one',
  altered_key: 'a key was altered after it was generated',
};

const GOOD = new Set(['ok', 'yes']);

function checkText(name: string): readonly [title: string, text: string] {
  const source = /^entropy:(.+)$/.exec(name)?.[1];
  if (source === undefined) return CHECKS[name] ?? [name, ''];
  return [`Source: ${source}`, sourceText(source)];
}

function wordsOf(state: ServerState, error: unknown): readonly [title: string, text: string] {
  if (state !== 'gone') return VERDICTS[state];
  const { title, text } = wordsFor(error);
  return [title, text];
}

export function StatusView() {
  const health = useHealth();
  const { data, error, isLoading, at, reload } = health;
  const state = serverState(health);
  const [title, text] = wordsOf(state, error);
  const checks = Object.entries(data?.checks ?? {});
  const failing = checks.filter(([, value]) => !GOOD.has(value));
  const isStale = state === 'gone';
  return (
    <>
      <section class={`panel verdict ${VERDICT_CLASSES[state]}`}>
        <div aria-live="polite">
          <h2>{title}</h2>
          {text && <p>{text}</p>}
          {failing.length > 0 && !isStale && (
            <p>Failing: {failing.map(([name]) => checkText(name)[0]).join(', ')}.</p>
          )}
          {data?.latch && !isStale && <Latched latch={data.latch} />}
        </div>
        <p class="note">
          {at === undefined
            ? 'No answer since this page opened.'
            : `Last answer at ${timeOfDay(at)}. Checked every 15 seconds.`}{' '}
          <button type="button" class="link" aria-disabled={isLoading} onClick={reload}>
            Check now
          </button>
        </p>
      </section>
      {checks.length > 0 && (
        <section class={isStale ? 'panel stale' : 'panel'} aria-labelledby="checks-title">
          <h2 id="checks-title">{isStale ? 'Checks, last known state' : 'Checks'}</h2>
          <p class="note">
            “ok” means that a part works and its own tests found no defect. It does not measure
            entropy.
          </p>
          <ul class="checks">
            {[...failing, ...checks.filter(([, value]) => GOOD.has(value))].map(([name, value]) => (
              <Check key={name} name={name} value={value} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Latched({ latch: { cause, test } }: { latch: NonNullable<Health['latch']> }) {
  return (
    <p>
      A generator is defective: {CAUSES[cause] ?? cause} (<code>{test}</code>). The server generates
      no keys until a restart.
    </p>
  );
}

function Check({ name, value }: { name: string; value: string }) {
  const [title, text] = checkText(name);
  const isGood = GOOD.has(value);
  return (
    <li>
      <span class={isGood ? 'state good' : 'state bad'}>
        <span aria-hidden="true">{isGood ? '✓' : '!'}</span> {value}
      </span>
      <div>
        <h3>{title}</h3>
        <p class="note">{text}</p>
      </div>
    </li>
  );
}
