/** The server that the page came from. A copy of the documentation on another site has none. */

export interface FoundServer {
  /** Base URL, without a slash at its end. */
  readonly address: string;
  /** A public demo key that this server accepts from this browser, or null. */
  readonly demoKey: string | null;
}

/** Finds the server one step above the documentation, also below a path prefix. */
export async function findServer(root: URL): Promise<FoundServer | null> {
  const base = new URL('../', root);
  try {
    const answer = await fetch(base, { headers: { Accept: 'application/json' } });
    const index: { service?: unknown; demo_api_key?: unknown } = await answer.json();
    if (index.service !== 'PHM key service') return null;
    const demoKey = typeof index.demo_api_key === 'string' ? index.demo_api_key : null;
    return { address: base.href.replace(/\/$/, ''), demoKey };
  } catch {
    return null;
  }
}
