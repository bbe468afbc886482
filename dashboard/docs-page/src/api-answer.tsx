/** The answer to a request. */
import { CodeBlock } from './code-block.tsx';
import { CopyButton } from './copy-button.tsx';

export interface Answer {
  /** Null: there was none. */
  readonly status: number | null;
  readonly ms: number;
  readonly text: string;
}

export function ApiAnswer({ answer }: { readonly answer: Answer | 'waiting' | null }) {
  const isHere = answer !== null && answer !== 'waiting';
  return (
    <div class="answer">
      <p role="status">{isHere ? summaryOf(answer) : ''}</p>
      {isHere && answer.text !== '' && (
        <>
          <CodeBlock text={indented(answer.text)} />
          <p class="after">
            <Help text={answer.text} />
            <CopyButton text={answer.text} />
          </p>
        </>
      )}
    </div>
  );
}

function summaryOf({ status, ms }: Answer): string {
  if (status === null) return 'The server did not answer. Check that it is running.';
  return `Answered ${status} in ${ms} ms.`;
}

/** A link to what the documentation says about an error. */
function Help({ text }: { readonly text: string }) {
  const [, code] = /^\{"success":false.*"code":"([a-z_]+)"/.exec(text) ?? [];
  return code === undefined ? null : <a href={`errors.html#${code}`}>What {code} means</a>;
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
