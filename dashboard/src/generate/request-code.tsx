/** The request of the form as code, which follows the form. */
import { useState } from 'preact/hooks';
import { CopyButton } from '../components/copy-button.tsx';
import { Segments } from '../components/segments.tsx';
import { type Order, toRequest } from './order.ts';
import { LANGUAGES, type Language, snippet } from './snippets.ts';

/** A public key, which has 1,600 characters and more: the page shows its beginning, and copies all of it. */
const PUBLIC_KEY = /[\w-]{1000,}/g;

const SHOWN_CHARACTERS = 20;

/** Address of the service, without a slash at its end. */
function address(): string {
  return new URL('.', location.href).href.replace(/\/$/, '');
}

export function RequestCode({ order }: { order: Order }) {
  const [language, setLanguage] = useState<Language>('curl');
  const code = snippet(language, toRequest(order, Date.now()), address());
  const shown = code.replaceAll(PUBLIC_KEY, (long) => `${long.slice(0, SHOWN_CHARACTERS)}…`);
  return (
    <section class="panel code" aria-labelledby="code-title">
      <header class="row">
        <h2 id="code-title">The same request</h2>
        <Segments<Language>
          legend="Language"
          isLegendHidden={true}
          options={LANGUAGES}
          value={language}
          onChange={setLanguage}
        />
      </header>
      <pre class="mono">{shown}</pre>
      <div class="actions">
        <CopyButton text={code} label="Copy the code" what="Code" />
        <p class="note">
          Your API key is not in it: set <code>PHM_API_KEY</code>.
        </p>
      </div>
    </section>
  );
}
