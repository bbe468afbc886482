/** Shows a sealed key: the page never had the key, and only its recipient can open it. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { CopyButton } from '../components/copy-button.tsx';
import { saveJson } from '../download.ts';
import { type Answer, useCustody } from './custody.tsx';
import { IdList } from './id-list.tsx';
import { takeFocus } from './secret-key.tsx';

export function SealedKey({ answer }: { answer: Answer }) {
  const { hasCopy, noteCopy, forget } = useCustody();
  const { key_id: id, security_level: level, sealed_key: sealed } = answer;
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => takeFocus(heading.current), []);
  const text = JSON.stringify(sealed);
  const save = () => {
    saveJson(`${id}.sealed.json`, sealed);
    noteCopy(id);
  };
  return (
    <section class="panel secret" aria-labelledby="secret-title">
      <header class="row">
        <h2 id="secret-title" ref={heading} tabIndex={-1}>
          Your sealed {level}-bit key
        </h2>
        <p class="note">{hasCopy ? 'You have a copy' : 'Not copied yet'}</p>
      </header>
      <p class="mono sealed-text">{text}</p>
      <div class="actions">
        <button type="button" class="primary" onClick={save}>
          Download
        </button>
        <CopyButton text={text} label="Copy" what="Sealed key" onCopied={() => noteCopy(id)} />
        <button type="button" class="danger" onClick={forget}>
          Forget
        </button>
      </div>
      <p class="note">
        Only the private key of the recipient opens it: <code>phm open</code>, or a client. It is no
        secret, and the service does not keep it.
      </p>
      <IdList values={[{ name: 'Key ID', value: id, copy: 'Copy ID' }]} />
    </section>
  );
}
