/** Keys: the list of the account's keys, and beside it the record of one. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { KeyInfo } from '../api.ts';
import type { Route } from '../route.ts';
import { KeyList } from './list.tsx';
import { hashOf, readQuery, wantedBy } from './query.ts';
import { KeyRecord } from './record.tsx';

/** The list stays while a record is open: on a narrow screen hidden, so that the way back leads to the same rows. */
export function KeysView({ route: { item, search } }: { route: Route }) {
  const [known, setKnown] = useState<ReadonlyMap<string, KeyInfo>>(new Map());
  const [listed, setListed] = useState(item === '' ? search : '');
  if (item === '' && listed !== search) setListed(search);
  const list = useRef<HTMLDivElement>(null);
  const opened = useRef(item);
  useEffect(() => {
    // Back from a record, the focus returns to its row.
    const from = opened.current;
    opened.current = item;
    if (item !== '' || from === '') return;
    const row = list.current?.querySelector<HTMLElement>(`a[href="#/keys/${CSS.escape(from)}"]`);
    (row ?? document.getElementById('keys-title'))?.focus();
  }, [item]);
  const onRecord = useCallback(
    (info: KeyInfo) => setKnown((before) => new Map(before).set(info.key_id, info)),
    [],
  );
  const latest = useCallback((info: KeyInfo) => known.get(info.key_id) ?? info, [known]);
  const isRecord = wantedBy(item) === 'key-id';
  const query = readQuery(listed);
  return (
    <div class={isRecord ? 'keys-view open' : 'keys-view'}>
      {item !== '' && !isRecord && (
        <p class="notice bad">
          The address has no key ID. <a href="#/keys">All keys</a>
        </p>
      )}
      <div class="list" ref={list}>
        <KeyList query={query} openId={item} latest={latest} onRecord={onRecord} />
      </div>
      {isRecord && (
        <KeyRecord
          key={item}
          id={item}
          known={known.get(item)}
          listHash={hashOf(query)}
          onRecord={onRecord}
        />
      )}
    </div>
  );
}
