/**
 * The two demo API keys: public by design, so that a newcomer holds a key in one minute.
 *
 * Because anybody knows them, `auto` admits them only where nobody else can come in: a loopback
 * listener over the embedded database, and requests that did not pass a proxy. There they end when the
 * operator issues the first API key of their own.
 */
import { withChecksum } from './api-key.ts';
import type { PlanName } from './plans.ts';

export interface DemoAccount {
  readonly accountId: string;
  readonly name: string;
  readonly plan: PlanName;
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

/** Whether a text is one of the demo API keys. They are public, so nothing is told by it. */
export function isDemoApiKey(text: string): boolean {
  return DEMO_ACCOUNTS.some(({ apiKey }) => apiKey === text);
}

export type DemoKeysMode = 'auto' | 'on' | 'off';

/** How the server can be reached, as far as demo keys care. */
export interface Exposure {
  readonly loopbackListener: boolean;
  readonly embeddedDatabase: boolean;
}

/** What is done with demo keys: all requests, only direct ones until they end, or none. */
export type DemoKeysPolicy = 'admit' | 'admit-direct' | 'refuse';

export function demoKeysPolicy(mode: DemoKeysMode, exposure: Exposure): DemoKeysPolicy {
  if (mode === 'on') return 'admit';
  if (mode === 'off') return 'refuse';
  return exposure.loopbackListener && exposure.embeddedDatabase ? 'admit-direct' : 'refuse';
}
