/** The requests of the API reference: the reader changes one, copies it as a program, or sends it. */
import { render } from 'preact';
import { RequestPanel } from './request-panel.tsx';
import type { FoundServer } from './server.ts';
import { SessionPanel } from './session-panel.tsx';
import { shared } from './shared.ts';
import type { Call } from './snippets.ts';

/** Replaces the examples of the page by requests that can be sent. */
export async function startReference(
  root: URL,
  server: Promise<FoundServer | null>,
  session: HTMLElement,
): Promise<void> {
  const answer = await fetch(new URL('assets/operations.json', root));
  const calls: readonly Call[] = await answer.json();
  shared.change({ server: await server });
  render(<SessionPanel />, session);
  for (const place of document.querySelectorAll<HTMLElement>('.try')) {
    const call = calls.find(({ id }) => id === place.dataset.operation);
    if (!call) continue;
    place.replaceChildren();
    render(<RequestPanel call={call} />, place);
  }
}
