/** Descriptions of the entropy sources, and the sources that a server offers. */
import type { Health } from './api.ts';

const TEXTS: Readonly<Record<string, string>> = {
  os: 'The operating system’s generator (on Windows: OpenSSL’s). Every key uses it; without it the service generates none.',
  jitter: 'Timing noise of this machine, health-tested sample by sample.',
  device: 'A noise device of this machine, health-tested sample by sample.',
  'quantum-simulator': 'A pseudorandom imitation of a quantum circuit, credited with no entropy.',
  'ibm-quantum':
    'Results of IBM Quantum hardware, according to the provider. The service cannot check this.',
  qrng: 'A random number service on the network. It is quantum according to the provider; the service cannot check this.',
};

/** Names of all sources that a key can have. */
export const SOURCE_NAMES: readonly string[] = Object.keys(TEXTS);

export function sourceText(name: string): string {
  return TEXTS[name] ?? 'A source that is mixed in on request.';
}

/** Returns the entropy sources that the server offers. `isReady` is true if the source delivers now. */
export function offeredSources(health: Health | undefined): { name: string; isReady: boolean }[] {
  return Object.entries(health?.checks ?? {}).flatMap(([check, state]) => {
    const name = /^entropy:(.+)$/.exec(check)?.[1];
    return name === undefined ? [] : [{ name, isReady: state === 'ok' }];
  });
}
