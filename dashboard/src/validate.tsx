/** Validate: takes a key, with or without its proof, and shows the results of the three checks. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ValidationResult } from './api.ts';
import { ignoreDoubleClick } from './components/double-click.ts';
import { Notice } from './components/notice.tsx';
import { SecretField } from './components/secret-field.tsx';
import { Warnings } from './components/warnings.tsx';
import { useSession } from './session.tsx';

interface Validated {
  readonly validation: ValidationResult;
  readonly hadProof: boolean;
}

const AFTERMATH = 'If the service received the request, it counts against the quota.';

export function ValidateView() {
  const { call } = useSession();
  const [key, setKey] = useState('');
  const [proof, setProof] = useState('');
  const [isWorking, setWorking] = useState(false);
  const [validated, setValidated] = useState<Validated>();
  const [error, setError] = useState<unknown>();
  const leaving = useRef<AbortController | undefined>(undefined);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => () => leaving.current?.abort(), []);

  const given = { key: key.trim(), proof: proof.trim() };

  const validate = async () => {
    if (given.key === '' || isWorking) return;
    const controller = new AbortController();
    leaving.current = controller;
    const { signal } = controller;
    setWorking(true);
    setValidated(undefined);
    setError(undefined);
    const body = { key: given.key, ...(given.proof !== '' && { hash_proof: given.proof }) };
    try {
      const validation = await call((client) => client.validate(body, { signal }));
      setValidated({ validation, hadProof: given.proof !== '' });
    } catch (failure) {
      if (!signal.aborted) setError(failure);
    } finally {
      setWorking(false);
    }
  };

  const clear = () => {
    setKey('');
    setProof('');
    setValidated(undefined);
    setError(undefined);
    // The button is now disabled, so the focus must move.
    form.current?.querySelector('input')?.focus();
  };

  return (
    <>
      <section class="panel" aria-label="What to validate">
        <form
          ref={form}
          onSubmit={(event) => {
            event.preventDefault();
            void validate();
          }}
        >
          <SecretField
            label="Key"
            value={key}
            note="32, 64 or 96 lowercase hexadecimal digits. The page sends it to the service, which does not store it."
            onInput={setKey}
          />
          <SecretField
            label="Proof"
            value={proof}
            isOptional={true}
            note="“proof_” and a number, as returned with the key. If given, the proof decides instead of the ledger."
            onInput={setProof}
          />
          <div class="actions">
            <button
              type="submit"
              class="primary"
              disabled={given.key === ''}
              aria-disabled={isWorking}
              onClick={ignoreDoubleClick}
            >
              {isWorking ? 'Validating…' : 'Validate'}
            </button>
            <button
              type="button"
              disabled={key === '' && proof === '' && !validated && error === undefined}
              onClick={clear}
            >
              Clear
            </button>
            <span class="note">Each verdict counts as one request against the quota.</span>
          </div>
        </form>
      </section>
      {error !== undefined && (
        <Notice error={error} retry={() => void validate()} aftermath={AFTERMATH} />
      )}
      <p class="unseen" role="status">
        {isWorking ? 'Validating the key.' : validated ? verdictText(validated) : ''}
      </p>
      {validated && <Verdict validated={validated} />}
    </>
  );
}

type State = 'good' | 'bad' | 'skipped';

interface Check {
  readonly title: string;
  readonly state: State;
  readonly word: string;
  readonly text: string;
}

const VALID = 'Valid: this service generated the key';

/** Returns the verdict for screen readers. The page shows the checks below. */
function verdictText(validated: Validated): string {
  if (validated.validation.valid) return `${VALID}.`;
  const failed = checksOf(validated).filter(({ state }) => state === 'bad');
  const ended = endedStatus(validated);
  if (ended !== undefined) return `Not valid: the key is ${ended}.`;
  if (isUnconfirmed(validated))
    return 'Not valid: the service cannot confirm that it generated this key.';
  return `Not valid. Failed: ${failed.map(({ title }) => title.toLowerCase()).join(', ')}.`;
}

function Verdict({ validated }: { validated: Validated }) {
  const { valid } = validated.validation;
  return (
    <section class={`panel verdict ${valid ? 'good' : 'bad'}`} aria-labelledby="verdict-title">
      <h2 id="verdict-title">{valid ? VALID : 'Not valid'}</h2>
      {!valid && <p>{invalidText(validated)}</p>}
      <ul class="checks">
        {checksOf(validated).map(({ title, state, word, text }) => (
          <li key={title}>
            <span class={`state ${state}`}>
              <span aria-hidden="true">{state === 'good' ? '✓' : state === 'bad' ? '!' : '–'}</span>{' '}
              {word}
            </span>
            <div>
              <h3>{title}</h3>
              <p class="note">{text}</p>
            </div>
          </li>
        ))}
      </ul>
      <Warnings warnings={validated.validation.warnings} />
    </section>
  );
}

/** Returns the status of a key that the service generated but calls invalid. */
function endedStatus({ validation }: Validated): Details['key_status'] {
  const { key_status: status } = validation.validation_details;
  return status === 'active' ? undefined : status;
}

function invalidText(validated: Validated): string {
  const ended = endedStatus(validated);
  if (ended !== undefined) return `The service generated this key, but the key is ${ended}.`;
  if (isUnconfirmed(validated)) return 'The service cannot confirm that it generated this key.';
  const { reason } = validated.validation.validation_details;
  return reason ?? 'A check failed. The service confirms only keys that it generated.';
}

function checksOf({ validation, hadProof }: Validated): Check[] {
  const details = validation.validation_details;
  return [
    {
      title: 'Format',
      state: details.key_format === 'valid' ? 'good' : 'bad',
      word: details.key_format,
      text:
        details.key_format === 'valid'
          ? 'The key has a valid length and valid digits.'
          : 'A key has exactly 32, 64 or 96 digits: 0 to 9 and a to f, in lowercase. The other checks are skipped.',
    },
    {
      title: 'Gross defects',
      state: stateOf(details.entropy_check),
      word: details.entropy_check,
      text: 'Six exact tests find only gross faults, such as constant or alternating bits, or a period that divides one of the compared distances. A sound key fails with a probability below 2⁻⁵⁰. The tests say nothing about how the key was generated.',
    },
    {
      title: hadProof ? 'Proof' : 'Record in the ledger',
      state: stateOf(details.proof_verification),
      word: details.proof_verification,
      text: details.retired_secret
        ? RETIRED_SECRET[details.retired_secret]
        : hadProof
          ? 'The proof must belong to this key, under any version of the master secret. A wrong proof fails even if the ledger has the key.'
          : 'The ledger must have this key’s commitment, from any account. Keys generated elsewhere fail.',
    },
    ...statusCheck(details.key_status),
  ];
}

/** A key that the service does not recognise has no status. */
function statusCheck(status: Details['key_status']): Check[] {
  if (status === undefined) return [];
  const state = status === 'active' ? 'good' : 'bad';
  return [{ title: 'Status', state, word: status, text: STATUSES[status] }];
}

const STATUSES: Readonly<Record<NonNullable<Details['key_status']>, string>> = {
  active: 'The key has neither expired nor been revoked.',
  deactivated: 'The key has expired, or its account has revoked it.',
  compromised: 'Its account has reported that others have the key, or may have it.',
};

type Details = ValidationResult['validation_details'];

const RETIRED_SECRET: Readonly<Record<NonNullable<Details['retired_secret']>, string>> = {
  record_found:
    'The operator retired the version of the master secret behind this key, so the ledger decides. The ledger has the key’s record.',
  record_too_late:
    'The operator retired the version of the master secret behind this key, so the ledger decides. The ledger has the key’s record, but only from after the secret was compromised.',
  no_record:
    'The proof is right, but the operator retired its version of the master secret, so the ledger decides. The ledger has no record of this key: the proof may be forged, or the record was removed because of its age.',
};

function isUnconfirmed({ validation }: Validated): boolean {
  const { entropy_check: entropy, proof_verification: proof } = validation.validation_details;
  return entropy !== 'failed' && proof === 'unconfirmed';
}

function stateOf(word: Details['proof_verification']): State {
  if (word === 'skipped') return 'skipped';
  return word === 'passed' ? 'good' : 'bad';
}
