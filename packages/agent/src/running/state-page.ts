/** Metrics and health for programs on this machine. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Listener } from '../listeners/listener.ts';

/** What the pages show. */
export interface AgentState {
  /** True once the service has served what the agent needs first. */
  readonly isComplete: boolean;
  /** The page of all figures. */
  metrics(): string;
}

type Page = readonly [status: number, type: string, text: string];

/** Resolves once it listens. */
export async function listenForState(
  place: { readonly host: string; readonly port: number },
  state: AgentState,
): Promise<Listener> {
  const server = createServer(
    { maxHeaderSize: 4096, requestTimeout: 10_000 },
    (request, response) => {
      const path = request.method === 'GET' ? request.url : '';
      const [status, type, text] = pageOf(path, state);
      response.writeHead(status, {
        'Content-Type': type,
        'Content-Length': Buffer.byteLength(text),
      });
      response.end(text);
    },
  );
  server.maxConnections = 16;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(place.port, place.host, resolve);
  });
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return { address: server.address() as AddressInfo, close };
}

function pageOf(path: string | undefined, state: AgentState): Page {
  const JSON_TYPE = 'application/json';
  if (path === '/metrics') return [200, 'text/plain; version=0.0.4', state.metrics()];
  if (path === '/healthz') return [200, JSON_TYPE, '{"status":"running"}\n'];
  if (path !== '/readyz') return [404, JSON_TYPE, '{"message":"there is no such page"}\n'];
  return state.isComplete
    ? [200, JSON_TYPE, '{"status":"ready"}\n']
    : [503, JSON_TYPE, '{"status":"the box was not listed yet"}\n'];
}
