/** What a reader does next with a new key. */
import type { Answer } from './custody.tsx';

const GUIDE = 'encrypt-a-file';

const SEALED_GUIDE = 'encrypt-a-file-with-a-sealed-key';

export function Next({
  answer: { key_id: id, opening, receipt, sealed_key: sealed },
}: {
  answer: Answer;
}) {
  const hasReceipt = opening !== undefined || receipt !== undefined;
  return (
    <section class="panel plain next" aria-labelledby="next-title">
      <h2 id="next-title">Next</h2>
      <ul>
        <li>
          <a href={`#/keys/${id}`}>Its record</a>
          <span class="note">its state, its receipt, and how to revoke it</span>
        </li>
        <li>
          <a href={`docs/guides/${sealed ? SEALED_GUIDE : GUIDE}.html`}>Encrypt a file</a>
          <span class="note">step by step</span>
        </li>
        <li>
          <a href="#/receipts">Verify the receipt</a>
          <span class="note">
            {hasReceipt ? 'it is below, ready to download' : 'the record has it'}
          </span>
        </li>
      </ul>
    </section>
  );
}
