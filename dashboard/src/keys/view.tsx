/** Keys: the list of the account's keys, or the record of one. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { KeyInfo } from '../api.ts';
import type { Route } from '../route.ts';
import { KeyList } from './list.tsx';
import { hashOf, readQuery, wantedBy } from './query.ts';
import { KeyRecord } from './record.tsx';

/** The list stays, hidden, while a record is shown: the way back leads to the same rows. */
export function KeysView({ route: { item, search } }: { route: Route }) {
  const [known, setKnown] = useState<ReadonlyMap<string, KeyInfo>>(new Map());
  const [listed, setListed] = useState(() => (item === '' ? search : undefined));
  if (item === '' && listed !== search) setListed(search);
  const list = useRef<HTMLDivElement>(null);
  const opened = useRef(item);
  useEffect(() => {
    // Back from a record, the focus returns to its row.
    const from = opened.current;
    opened.current = item;
    if (item !== '' || from === '') return;
    list.current?.querySelector<HTMLElement>(`a[href="#/keys/${CSS.escape(from)}"]`)?.focus();
  }, [item]);
  const onRecord = useCallback(
    (info: KeyInfo) => setKnown((before) => new Map(before).set(info.key_id, info)),
    [],
  );
  const latest = (info: KeyInfo) => known.get(info.key_id) ?? info;
  return (
    <>
      {listed !== undefined && (
        <div ref={list} hidden={item !== ''}>
          <KeyList query={readQuery(listed)} latest={latest} />
        </div>
      )}
      {item !== '' && wantedBy(item) !== 'key-id' && (
        <p class="notice bad">
          The address has no key ID. <a href="#/keys">All keys</a>
        </p>
      )}
      {wantedBy(item) === 'key-id' && (
        <KeyRecord
          key={item}
          id={item}
          known={known.get(item)}
          listHash={listed === undefined ? undefined : hashOf(readQuery(listed))}
          onRecord={onRecord}
        />
      )}
    </>
  );
}
