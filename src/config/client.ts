/** Address and API key with which the client commands call a service. */
import { type Credential, isLoopback, Reader } from './reader.ts';

export interface ClientConfig {
  readonly url: string;
  /** True if requests to `url` stay on this machine. */
  readonly loopback: boolean;
  readonly apiKey: Credential | null;
}

type ClientConfigResult =
  | { readonly ok: true; readonly config: ClientConfig }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the client variables. `given` is an address that overrides `PHM_URL`. */
export function readClientConfig(
  env: Readonly<Record<string, string | undefined>>,
  given: string | undefined,
): ClientConfigResult {
  const problems: string[] = [];
  const reader = new Reader(env, problems);
  const apiKey = reader.credential('PHM_API_KEY', 'PHM_API_KEY_FILE');
  const name = given === undefined ? 'PHM_URL' : '--url';
  const text = given ?? reader.text('PHM_URL');
  const url = URL.parse(text);
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  // The message does not quote the address, which may contain a password.
  if (!url || !isHttp || url.username || url.password || /[?#]/.test(text)) {
    problems.push(
      `${name} is not a usable address: write https://host/path, without user, query or fragment`,
    );
    return { ok: false, problems };
  }
  const loopback = isLoopback(url.hostname);
  if (url.protocol === 'http:' && !loopback && !reader.flag('PHM_ALLOW_CLEARTEXT')) {
    problems.push(
      `${name} is ${url.origin}: the API key and keys would cross the network in the clear. Use https:, ` +
        'or set PHM_ALLOW_CLEARTEXT=on if something else encrypts the connection',
    );
  }
  return problems.length === 0
    ? { ok: true, config: { url: text, loopback, apiKey } }
    : { ok: false, problems };
}
