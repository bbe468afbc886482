/** A client of a scripted server. */
import { PhmClient, type PhmClientOptions } from '../../sdk/src/index.ts';
import { ScriptedServer, type Step } from '../support/scripted-server.ts';

export const API_KEY = 'phmsk_live_ThisApiKeyMustNeverBeShown_abcdef';

export const KEY = '64f48946bc0f783ed7e06e86d8c2a30bea09f5472b2c69c850793f2a4d7161dc';

export const GENERATED = { key_id: 'phm_2170353998975470955695595929441419327', key: KEY };

/** Runs `work` with a client of a server that answers by `steps`. */
export async function withClient(
  steps: readonly Step[],
  work: (phm: PhmClient, server: ScriptedServer) => Promise<void>,
  options: Partial<PhmClientOptions> = {},
): Promise<void> {
  const server = await ScriptedServer.start(...steps);
  try {
    await work(new PhmClient({ baseUrl: server.address, apiKey: API_KEY, ...options }), server);
  } finally {
    await server.stop();
  }
}

/** What a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const [outcome] = await Promise.allSettled([promise]);
  if (outcome.status === 'rejected') return outcome.reason;
  throw new Error('the promise was expected to reject');
}
