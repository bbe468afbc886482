/** The API key of the page's requests. */
import { shared, useShared } from './shared.ts';

export function SessionPanel() {
  const { server, apiKey } = useShared();
  if (server === null) {
    return (
      <p>
        This copy of the documentation is not on a server, so it sends no requests. The examples use
        the address of a server on your own machine.
      </p>
    );
  }
  return (
    <>
      <p>
        Requests go to <code>{server.address}</code>.{' '}
        {server.demoKey !== null && 'Without an API key of yours they use the public demo key.'}
      </p>
      <label class="api-key">
        <span>Your API key</span>
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={apiKey}
          placeholder={server.demoKey === null ? 'phmsk_…' : 'the demo key'}
          onInput={({ currentTarget }) => shared.change({ apiKey: currentTarget.value.trim() })}
        />
        <span class="note">It stays in this page and is gone when you leave or reload it.</span>
      </label>
    </>
  );
}
