/** Source status: every check of /health in words, what fails first. */
import type { Health } from './api.ts';
import { wordsFor } from './components/notice.tsx';
import { timeOfDay } from './format.ts';
import { type ServerState, serverState, useHealth } from './health.tsx';
import { sourceText } from './source-names.ts';

const VERDICTS: Readonly<
  Record<Exclude<ServerState, 'gone'>, readonly [title: string, text: string]>
> = {
  asking: ['Asking the server', ''],
  ok: ['Ready', 'It makes keys, records them and answers.'],
  unavailable: [
    'Not ready',
    'Something it needs is failing: see below. Some requests are refused.',
  ],
  draining: [
    'Ending',
    'The process was told to end. It answers what is under way; new requests belong to another server, or to this one after its restart.',
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
    'What every key needs',
    'The generators, the operating system’s source and the server’s default one.',
  ],
  generator: [
    'Generators',
    'One in each thread that makes keys. They are tested while they run. If one fails, all of them release nothing more until a restart. While one cannot be judged, its keys wait.',
  ],
  ledger: [
    'Ledger',
    'Whether it can record and be read. No key leaves the server before its record is durable.',
  ],
  master_secret: [
    'Master secret',
    'Whether this server has every version under which keys are made. Without one it cannot tell of every key whether it was made here, and needs a restart with the whole secret. If the version that it makes keys under is retired, it makes none until a restart with another one.',
  ],
  accepting: ['Accepting requests', 'Whether the process takes new requests, or was told to end.'],
};

/** What showed that a generator is defective. */
const CAUSES: Readonly<Record<NonNullable<Health['latch']>['cause'], string>> = {
  self_test: 'a self-test of the generator or of the statistical tests failed',
  gate: 'two streams in a row, or three of some 1,000, failed the gate of the statistical tests',
  screen: 'a sample of its output is plainly biased',
  key_test: 'a key failed one of the exact tests that every key must pass',
  repeated_key: 'a new key repeats one in the ledger',
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
            ? 'Asked when this page opened.'
            : `Last answer at ${timeOfDay(at)}. Asked again every 15 seconds.`}{' '}
          <button type="button" class="link" aria-disabled={isLoading} onClick={reload}>
            Ask now
          </button>
        </p>
      </section>
      {checks.length > 0 && (
        <section class={isStale ? 'panel stale' : 'panel'} aria-labelledby="checks-title">
          <h2 id="checks-title">{isStale ? 'Checks, as they were last known' : 'Checks'}</h2>
          <p class="note">
            “ok” means that a part works and that its own tests found no defect. It measures no
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
      A generator proved defective: {CAUSES[cause] ?? cause} (<code>{test}</code>). The server makes
      no key until a restart.
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
