/** What the service warns of in an answer. The page asks for strict handling, so only a proxy can make any come. */
import type { GeneratedKey } from '../api.ts';

export function Warnings({ warnings }: { warnings: GeneratedKey['warnings'] | undefined }) {
  if (!warnings?.length) return null;
  return (
    <div class="notice">
      <h3>The service warns</h3>
      <ul>
        {warnings.map(({ pointer, detail }) => (
          <li key={pointer}>{detail}</li>
        ))}
      </ul>
    </div>
  );
}
