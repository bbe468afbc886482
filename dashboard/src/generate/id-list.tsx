/** Values that name a key and are no secret, each with a button that copies it. */
import { CopyButton } from '../components/copy-button.tsx';

interface NamedValue {
  readonly name: string;
  readonly value: string;
  /** Text of the button. */
  readonly copy: string;
}

export function IdList({ values }: { values: readonly NamedValue[] }) {
  return (
    <dl class="ids">
      {values.map(({ name, value, copy }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code>{value}</code>
            <CopyButton text={value} label={copy} what={name} className="link" />
          </dd>
        </div>
      ))}
    </dl>
  );
}
