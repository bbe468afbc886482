/** The table of keys: a line for each, in which columns drop out before a row grows. */
import { useEffect, useRef } from 'preact/hooks';
import type { KeyInfo } from '../api.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { age, dateTime } from '../format.ts';
import { useNow } from '../load.ts';
import { endText, expiryText, labelTexts, STATUS_LOOKS } from './words.ts';

/** Labels that a row shows. */
const SHOWN_LABELS = 2;

const MINUTE_MS = 60_000;

interface Selection {
  readonly selected: ReadonlySet<string>;
  /** Selects these keys, or no longer. */
  onSelect(ids: readonly string[], isSelected: boolean): void;
}

interface KeyTableProps extends Selection {
  readonly keys: readonly KeyInfo[];
  /** ID of the key whose record is open, or empty. */
  readonly openId: string;
}

/** Only a key that is not revoked can be revoked together with others. */
export function canRevoke({ revoked_at: revoked }: KeyInfo): boolean {
  return revoked === null;
}

export function KeyTable({ keys, openId, selected, onSelect }: KeyTableProps) {
  const now = useNow(MINUTE_MS);
  return (
    <table class="keys" aria-labelledby="keys-title">
      <thead>
        <tr>
          <td class="select">
            <SelectAll keys={keys} selected={selected} onSelect={onSelect} />
          </td>
          <th scope="col">Key ID</th>
          <th scope="col" class="labels-column">
            Labels
          </th>
          <th scope="col" class="status">
            Status
          </th>
          <th scope="col" class="bits">
            Bits
          </th>
          <th scope="col" class="expiry">
            Expires
          </th>
          <th scope="col" class="age">
            Age
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((info) => (
          <KeyRow
            key={info.key_id}
            info={info}
            now={now}
            isOpen={info.key_id === openId}
            isSelected={selected.has(info.key_id)}
            onSelect={(isSelected) => onSelect([info.key_id], isSelected)}
          />
        ))}
      </tbody>
    </table>
  );
}

function SelectAll({ keys, selected, onSelect }: Selection & Pick<KeyTableProps, 'keys'>) {
  const box = useRef<HTMLInputElement>(null);
  const ids = keys.filter(canRevoke).map(({ key_id: id }) => id);
  const isAll = ids.length > 0 && ids.every((id) => selected.has(id));
  useEffect(() => {
    if (box.current) box.current.indeterminate = !isAll && ids.some((id) => selected.has(id));
  });
  return (
    <label>
      <input
        ref={box}
        type="checkbox"
        aria-label="Select all keys of this page"
        checked={isAll}
        disabled={ids.length === 0}
        onChange={(event) => onSelect(ids, event.currentTarget.checked)}
      />
    </label>
  );
}

interface KeyRowProps {
  readonly info: KeyInfo;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly isOpen: boolean;
  readonly isSelected: boolean;
  onSelect(isSelected: boolean): void;
}

function KeyRow({ info, now, isOpen, isSelected, onSelect }: KeyRowProps) {
  const { key_id: id, created_at: created, security_level: level, expires_at: expires } = info;
  return (
    <tr aria-current={isOpen ? 'true' : undefined}>
      <td class="select">
        <label>
          <input
            type="checkbox"
            aria-label={`Select ${id}`}
            checked={isSelected}
            disabled={!canRevoke(info)}
            onChange={(event) => onSelect(event.currentTarget.checked)}
          />
        </label>
      </td>
      <th scope="row">
        <div class="key-id">
          <a class="mono" href={`#/keys/${id}`} title={id}>
            {id}
          </a>
          <CopyButton text={id} label="Copy" what="Key ID" className="link" />
        </div>
      </th>
      <td class="labels-column">
        <RowLabels texts={labelTexts(info)} />
      </td>
      <td class="status" title={endText(info)}>
        <Status info={info} />
      </td>
      <td class="bits">{level}</td>
      <td class="expiry" title={expires === null ? undefined : dateTime(expires)}>
        {expiryText(info, now)}
      </td>
      <td class="age">
        <time dateTime={created} title={dateTime(created)}>
          {age(now - Date.parse(created))}
        </time>
      </td>
    </tr>
  );
}

export function Status({ info: { status } }: { info: KeyInfo }) {
  const { state, sign } = STATUS_LOOKS[status];
  return (
    <span class={`state ${state}`}>
      <span aria-hidden="true">{sign}</span> {status}
    </span>
  );
}

function RowLabels({ texts }: { texts: readonly string[] }) {
  if (texts.length === 0) return null;
  const more = texts.length - SHOWN_LABELS;
  return (
    <ul class="chips" title={texts.join(', ')}>
      {texts.slice(0, SHOWN_LABELS).map((text) => (
        <li key={text}>{text}</li>
      ))}
      {more > 0 && (
        <li class="more">
          +{more}
          <span class="unseen"> more</span>
        </li>
      )}
    </ul>
  );
}
