/** The table of keys. On a narrow screen each row becomes a block of lines. */
import type { KeyInfo } from '../api.ts';
import { dateTime } from '../format.ts';
import { endText, evidenceText, labelTexts, STATUS_LOOKS } from './words.ts';

/** Labels that a row shows. */
const SHOWN_LABELS = 3;

export function KeyTable({ keys }: { keys: readonly KeyInfo[] }) {
  return (
    <table class="keys" aria-labelledby="keys-title">
      <thead>
        <tr>
          <th scope="col">Key ID, time</th>
          <th scope="col">Status</th>
          <th scope="col">Length, source, tests</th>
          <th scope="col">Labels</th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <KeyRow key={key.key_id} info={key} />
        ))}
      </tbody>
    </table>
  );
}

function KeyRow({ info }: { info: KeyInfo }) {
  const { key_id: id, created_at: created, security_level: level, source } = info;
  const end = endText(info);
  return (
    <tr>
      <th scope="row">
        <a class="mono" href={`#/keys/${id}`}>
          {id}
        </a>
        <span class="note">{dateTime(created)}</span>
      </th>
      <td>
        <Status info={info} />
        {end && <span class="note">{end}</span>}
      </td>
      <td>
        {level} bits
        <span class="note">
          {source}, {evidenceText(info)}
        </span>
      </td>
      <td>
        <RowLabels texts={labelTexts(info)} />
      </td>
    </tr>
  );
}

function Status({ info: { status } }: { info: KeyInfo }) {
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
    <ul class="chips">
      {texts.slice(0, SHOWN_LABELS).map((text) => (
        <li key={text}>{text}</li>
      ))}
      {more > 0 && <li class="more">{more} more</li>}
    </ul>
  );
}
