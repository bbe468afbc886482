/** Shows the warnings of an answer. The page asks for strict handling, so only a proxy can cause any. */
import type { GeneratedKey } from '../api.ts';

export function Warnings({ warnings }: { warnings: GeneratedKey['warnings'] | undefined }) {
  if (!warnings?.length) return null;
  return (
    <div class="notice">
      <h3>Warnings from the service</h3>
      <ul>
        {warnings.map(({ pointer, detail }) => (
          <li key={pointer}>{detail}</li>
        ))}
      </ul>
    </div>
  );
}
