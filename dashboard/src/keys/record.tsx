/** The record of one key: its state, what the ledger knows, its receipt, and its revocation. */
import { type ComponentChildren, Fragment } from 'preact';
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { KeyInfo, RevocationReason } from '../api.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Notice } from '../components/notice.tsx';
import { dateTime, pValue } from '../format.ts';
import { useLoad } from '../load.ts';
import { useSession } from '../session.tsx';
import { openHash } from '../use-route.ts';
import { hashOf, NO_FILTERS } from './query.ts';
import { KeyReceipt } from './receipt.tsx';
import { RevokeDialog } from './revoke-dialog.tsx';
import { useRevocations } from './use-revocations.ts';
import { capital, endSentences, evidenceText, meaningOf, STATUS_LOOKS } from './words.ts';

const AFTERMATH =
  'The service may have revoked the key all the same. You can try again: a repeated revocation changes nothing.';

interface KeyRecordProps {
  readonly id: string;
  /** The record as the list has it, if it does. */
  readonly known: KeyInfo | undefined;
  /** Hash of the list beside the record. */
  readonly listHash: string;
  /** Notes the latest record. */
  onRecord(info: KeyInfo): void;
}

export function KeyRecord({ id, known, listHash, onRecord }: KeyRecordProps) {
  const { call } = useSession();
  const load = useCallback(
    async (signal: AbortSignal) => {
      const { key } = await call((client) => client.getKey(id, { signal }));
      onRecord(key);
      return key;
    },
    [call, id, onRecord],
  );
  const { data, error, isLoading, reload } = useLoad(load);
  const info = known ?? data;
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), [id]);
  const closeByEscape = (event: KeyboardEvent) => {
    const isInDialog = event.target instanceof Element && event.target.closest('dialog') !== null;
    if (event.key === 'Escape' && !isInDialog) openHash(listHash);
  };
  return (
    <section class="drawer" aria-labelledby="record-title" onKeyDown={closeByEscape}>
      <header class="row">
        <h2 id="record-title" ref={heading} tabIndex={-1}>
          Record of a key
        </h2>
        <a class="button" href={listHash}>
          Close
        </a>
      </header>
      {error !== undefined && <Notice error={error} retry={reload} />}
      {!info && isLoading && <p class="note">Loading the record…</p>}
      {info && (
        <>
          <State info={info} onRecord={onRecord} />
          <Facts info={info} />
          <KeyReceipt info={info} />
        </>
      )}
    </section>
  );
}

const STATE_CLASSES = { active: 'good', deactivated: '', compromised: 'bad' } as const;

interface StateProps {
  readonly info: KeyInfo;
  onRecord(info: KeyInfo): void;
}

function State({ info, onRecord }: StateProps) {
  const { status } = info;
  const { isAsking, isWorking, error, ask, answer, retry } = useRevocation(info, onRecord);
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(status);
  useLayoutEffect(() => {
    // The button may be gone, so the focus moves to what it changed.
    if (shown.current !== status && document.activeElement?.matches('body, .danger')) {
      heading.current?.focus();
    }
    shown.current = status;
  }, [status]);
  const end = endSentences(info);
  return (
    <section class={`panel verdict ${STATE_CLASSES[status]}`} aria-labelledby="state-title">
      <h2 id="state-title" ref={heading} tabIndex={-1}>
        <span aria-hidden="true">{STATUS_LOOKS[status].sign} </span>
        {capital(status)}
      </h2>
      {end && <p>{end}</p>}
      <p>{meaningOf(info)}</p>
      {status !== 'compromised' && (
        <div class="actions">
          <button type="button" class="danger" aria-disabled={isWorking} onClick={ask}>
            {info.revoked_at === null ? 'Revoke…' : 'Report as compromised…'}
          </button>
          {isWorking && <span class="note">Revoking…</span>}
        </div>
      )}
      <p class="unseen" role="status">
        {isWorking ? 'Revoking the key.' : `${capital(status)}. ${end}`}
      </p>
      {error !== undefined && <Notice error={error} retry={retry} aftermath={AFTERMATH} />}
      {isAsking && <RevokeDialog keys={[info]} onAnswer={answer} />}
    </section>
  );
}

/** Asks for a reason, and revokes the key. */
function useRevocation(info: KeyInfo, onRecord: (info: KeyInfo) => void) {
  const [isAsking, setAsking] = useState(false);
  const { isWorking, error, revoke, retry } = useRevocations([info], onRecord);
  return {
    isAsking,
    isWorking,
    error,
    ask: () => setAsking(!isWorking),
    answer: (given: RevocationReason | null) => {
      setAsking(false);
      if (given !== null) void revoke(given);
    },
    retry,
  };
}

function Facts({ info }: { info: KeyInfo }) {
  return (
    <section class="panel" aria-labelledby="facts-title">
      <h2 id="facts-title">What the ledger knows</h2>
      <dl class="ids facts">
        <Fact name="Key ID">
          <code>{info.key_id}</code>
          <CopyButton text={info.key_id} label="Copy ID" what="Key ID" className="link" />
        </Fact>
        <Fact name="Generated">{dateTime(info.created_at)}, your local time</Fact>
        <Fact name="Expires">{info.expires_at === null ? 'never' : dateTime(info.expires_at)}</Fact>
        <Fact name="Labels">
          <Labels labels={info.labels} />
        </Fact>
        <Fact name="Length">{lengthText(info)}</Fact>
        <Fact name="Source">{info.source}</Fact>
        <Fact name="Modulation">{info.modulation_type}</Fact>
        <Fact name="Tests">{testsText(info)}</Fact>
        <Fact name="API key">
          <code>{info.api_key_id}</code>
          <a href={hashOf({ ...NO_FILTERS, api_key_id: info.api_key_id })}>Its keys</a>
        </Fact>
        <Fact name="Delivered">
          <Recipients thumbprints={info.recipients} />
        </Fact>
        {info.delivery_id && (
          <Fact name="Delivery">
            <code>{info.delivery_id}</code>
          </Fact>
        )}
      </dl>
      <p class="note">The service does not store the key itself.</p>
    </section>
  );
}

function Recipients({ thumbprints }: { thumbprints: readonly string[] }) {
  if (thumbprints.length === 0) return <>in plaintext</>;
  return (
    <>
      sealed to {thumbprints.length === 1 ? 'the recipient' : `${thumbprints.length} recipients:`}{' '}
      {thumbprints.map((one, i) => (
        <Fragment key={one}>
          {i > 0 && ', '}
          <code>{one}</code>
        </Fragment>
      ))}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Each label leads to the keys that have it. */
function Labels({ labels }: Pick<KeyInfo, 'labels'>) {
  const all = Object.entries(labels);
  if (all.length === 0) return <>none</>;
  return (
    <ul class="chips">
      {all.map(([name, value]) => (
        <li key={name}>
          <a href={hashOf({ ...NO_FILTERS, label: [`${name}:${value}`] })}>
            {name}: {value}
          </a>
        </li>
      ))}
    </ul>
  );
}

function lengthText({ security_level: level, security_strength_bits: strength }: KeyInfo): string {
  return strength === null ? `${level} bits` : `${level} bits, strength ${strength} bits`;
}

function testsText(info: KeyInfo): string {
  const { evidence } = info;
  if (evidence === null) return evidenceText(info);
  return `${evidenceText(info)} passed; gate passed, p = ${pValue(evidence.gate_p_value)}`;
}
