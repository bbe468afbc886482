/** Tells callers who put an API key into the URL that it has leaked. */
import { isDemoApiKey, isWellFormedApiKey } from '../accounts/index.ts';
import type { ErrorDetails } from '../errors.ts';

const API_KEY = /phmsk_(?:live|demo)_\w{28}_\w{6}/;

/** Returns what an error says about an API key in the URL; null if there is none. Demo keys are public. */
export function leakedKey(url: string): Pick<ErrorDetails, 'detail' | 'remedy'> | null {
  const [found] = API_KEY.exec(url) ?? [];
  if (found === undefined || !isWellFormedApiKey(found) || isDemoApiKey(found)) return null;
  return {
    detail:
      'The URL holds an API key. Proxies, logs and histories keep URLs, so consider this API key leaked.',
    remedy:
      'Have the operator revoke it ("phm api-key revoke") and issue another. Send that one in the X-API-Key header.',
  };
}
