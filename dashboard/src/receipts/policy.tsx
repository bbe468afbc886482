/** The policy under which a receipt is verified: this server's, or the reader's own. */
import { fetchPolicy } from '../api.ts';
import { Segments } from '../components/segments.tsx';
import { TextArea } from '../components/text-area.tsx';

type PolicySource = 'server' | 'own';

export interface PolicyChoice {
  readonly source: PolicySource;
  /** Text of the reader's own policy. */
  readonly policy: string;
}

export const SERVERS_POLICY: PolicyChoice = { source: 'server', policy: '' };

const SOURCES = [
  { value: 'server', label: 'of this server' },
  { value: 'own', label: 'your own' },
] as const satisfies readonly { value: PolicySource; label: string }[];

const SOURCE_NOTES: Readonly<Record<PolicySource, string>> = {
  server:
    'The page fetches it from /log/policy. It pins nothing independent: it shows only whether the receipt is of this server’s log.',
  own: 'A policy that you kept, or got from someone else than this server.',
};

/** Returns the text of the chosen policy. Throws `Error` with a sentence for the reader. */
export async function policyText({ source, policy }: PolicyChoice): Promise<string> {
  return source === 'server' ? fetchPolicy() : policy;
}

interface PolicyFieldProps {
  readonly choice: PolicyChoice;
  onChange(fields: Partial<PolicyChoice>): void;
  onFile(file: File): void;
}

export function PolicyField({ choice: { source, policy }, onChange, onFile }: PolicyFieldProps) {
  return (
    <>
      <div class="field">
        <Segments
          legend="Policy"
          options={SOURCES}
          value={source}
          onChange={(chosen) => onChange({ source: chosen })}
        />
        <p class="note">{SOURCE_NOTES[source]}</p>
      </div>
      {source === 'own' && (
        <TextArea
          label="Your policy"
          value={policy}
          accept=".policy,.txt,text/plain"
          onInput={(text) => onChange({ policy: text })}
          onFile={onFile}
        />
      )}
    </>
  );
}
