/** What the dashboard says of the entropy sources, and those that a server offers. */
import type { Health } from './api.ts';

const TEXTS: Readonly<Record<string, string>> = {
  os: 'The operating system’s generator; on Windows OpenSSL’s stands in. It takes part in every key, and without it there is none.',
  jitter: 'Timing noise of this machine, health-tested sample by sample.',
  device: 'A noise device of this machine, health-tested sample by sample.',
  'quantum-simulator':
    'A pseudorandom imitation of a quantum circuit, credited with no entropy at all.',
  'ibm-quantum':
    'Shots of IBM Quantum hardware, on its provider’s word, which the service cannot check.',
  qrng: 'A random number service over the network: quantum on its provider’s word, which the service cannot check.',
};

export function sourceText(name: string): string {
  return TEXTS[name] ?? 'A source that is mixed in on request.';
}

/** The entropy sources that this server offers, each with whether it delivers at the moment. */
export function offeredSources(health: Health | undefined): { name: string; isReady: boolean }[] {
  return Object.entries(health?.checks ?? {}).flatMap(([check, state]) => {
    const name = /^entropy:(.+)$/.exec(check)?.[1];
    return name === undefined ? [] : [{ name, isReady: state === 'ok' }];
  });
}
