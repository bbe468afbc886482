import type { Listener } from '../listeners/listener.ts';

/** Returns where a listener listens, as a URL has it. */
export function addressText({ address: { address, family, port } }: Listener): string {
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}
