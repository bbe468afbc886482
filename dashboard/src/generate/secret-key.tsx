/**
 * Shows the key once, masked until the reader reveals it. The raster of its bits is the key in another form, so it
 * appears only while the key is revealed.
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CopyButton } from '../components/copy-button.tsx';
import { saveJson } from '../download.ts';
import { type Made, useCustody } from './custody.tsx';
import { IdList } from './id-list.tsx';
import { BitRaster } from './raster.tsx';

/** The styles have the same width: below it, the key comes above the form. */
const ONE_COLUMN = matchMedia('(max-width: 63.9em)');

/** Groups of eight digits, so that lines break between groups. */
const GROUP = /.{8}/g;

/**
 * Moves the focus from the button that generated the key to the key, unless the reader has moved it elsewhere. The
 * page scrolls only if the key is out of sight; and in two columns not under a pointer, whose button is beside the key.
 */
export function takeFocus(heading: HTMLElement | null): void {
  if (!heading || !document.activeElement?.matches('body, h1, [type=submit]')) return;
  heading.focus({ preventScroll: true });
  const section = heading.closest('section');
  const end = section?.querySelector('.actions')?.getBoundingClientRect().bottom ?? 0;
  const isSeen = heading.getBoundingClientRect().top >= 0 && end <= innerHeight;
  const mayScroll = heading.matches(':focus-visible') || ONE_COLUMN.matches;
  if (!isSeen && mayScroll) section?.scrollIntoView();
}

/** True if the reader's selection contains the whole key. */
function isCopiedByHand(key: string): boolean {
  return String(getSelection()).replaceAll(/\s/g, '').includes(key);
}

/** An answer in plaintext. */
type PlainAnswer = Made['answer'] & { readonly key: string; readonly hash_proof: string };

export function isPlain(answer: Made['answer']): answer is PlainAnswer {
  return answer.key !== undefined;
}

export function SecretKey({ answer }: { answer: PlainAnswer }) {
  const { hasCopy, noteCopy, forget } = useCustody();
  const { key, key_id: id, security_level: level, timestamp, hash_proof: proof, opening } = answer;
  const [isShown, setShown] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => takeFocus(heading.current), []);
  const save = () => {
    saveJson(`${id}.json`, {
      key_id: id,
      key,
      security_level: level,
      hash_proof: proof,
      timestamp,
      // Without its opening, nothing ties the receipt to the key.
      ...(opening !== undefined && { opening }),
    });
    noteCopy(id);
  };
  return (
    <section
      class="panel secret"
      aria-labelledby="secret-title"
      onCopy={() => isCopiedByHand(key) && noteCopy(id)}
    >
      <header class="row">
        <h2 id="secret-title" ref={heading} tabIndex={-1}>
          Your {level}-bit key
        </h2>
        <p class="note">{hasCopy ? 'You have a copy' : 'Not copied yet'}</p>
      </header>
      <div class={isShown ? 'secret-body shown' : 'secret-body'}>
        {isShown ? (
          <code class="digits">
            {(key.match(GROUP) ?? [key]).map((group, i) => (
              <span key={i}>{group}</span>
            ))}
          </code>
        ) : (
          <p class="digits">
            <span class="unseen">The key is hidden.</span>
            {Array.from({ length: key.length / 8 }, (_, i) => (
              <span key={i} aria-hidden="true">
                ••••••••
              </span>
            ))}
          </p>
        )}
        {isShown && <BitRaster hex={key} />}
      </div>
      <div class="actions">
        <CopyButton
          text={key}
          label="Copy"
          what="Key"
          className="primary"
          onCopied={() => {
            setShown(false);
            noteCopy(id);
          }}
        />
        <button type="button" onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Reveal'}
        </button>
        <button type="button" onClick={save}>
          Download
        </button>
        <button type="button" class="danger" onClick={forget}>
          Forget
        </button>
      </div>
      <p class="note">
        The service does not store this key and cannot show it again.{' '}
        {hasCopy
          ? 'This page forgets it when you generate another or leave this view.'
          : 'This page keeps it until you have a copy, and asks before it drops it.'}{' '}
        Copying also hides it. Other programs can read the clipboard.
      </p>
      <IdList
        values={[
          { name: 'Key ID', value: id, copy: 'Copy ID' },
          { name: 'Proof', value: proof, copy: 'Copy proof' },
        ]}
      />
    </section>
  );
}
