/**
 * The two demo API keys. They are public, so that a newcomer can generate a key within a minute.
 *
 * Anyone can know them, so `auto` admits them only where strangers cannot connect: on a loopback listener
 * over the embedded database, for requests that did not pass a proxy. They stop working when the operator
 * issues the first API key.
 */
import { withChecksum } from './api-key.ts';

interface DemoAccount {
  readonly accountId: string;
  readonly name: string;
  /** A published plan. */
  readonly plan: string;
  readonly apiKeyId: string;
  readonly apiKey: string;
}

export const DEMO_ACCOUNTS: readonly [DemoAccount, DemoAccount] = [
  {
    accountId: 'acct_demo_research',
    name: 'Demo (Research)',
    plan: 'research',
    apiKeyId: 'key_demo_research',
    apiKey: withChecksum('phmsk_demo_ResearchDemoKeyNotSecret0001'),
  },
  {
    accountId: 'acct_demo_professional',
    name: 'Demo (Professional)',
    plan: 'professional',
    apiKeyId: 'key_demo_professional',
    apiKey: withChecksum('phmsk_demo_ProfessionalDemoNotSecret002'),
  },
];

/** Returns true for a demo API key. They are public, so the comparison need not be constant-time. */
export function isDemoApiKey(text: string): boolean {
  return DEMO_ACCOUNTS.some(({ apiKey }) => apiKey === text);
}

type DemoKeysMode = 'auto' | 'on' | 'off';

/** How clients can reach the server, as far as demo keys are concerned. */
interface Exposure {
  readonly loopbackListener: boolean;
  readonly embeddedDatabase: boolean;
}

/** Which requests may use demo keys: all, only direct ones until an API key is issued, or none. */
export type DemoKeysPolicy = 'admit' | 'admit-direct' | 'refuse';

export function demoKeysPolicy(mode: DemoKeysMode, exposure: Exposure): DemoKeysPolicy {
  if (mode === 'on') return 'admit';
  if (mode === 'off') return 'refuse';
  return exposure.loopbackListener && exposure.embeddedDatabase ? 'admit-direct' : 'refuse';
}
