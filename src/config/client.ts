/** Where the client commands find the service, and with which API key they call it. */
import { type Credential, isLoopback, Reader } from './reader.ts';

export interface ClientConfig {
  readonly url: string;
  /** Whether neither the environment nor an option names an address. */
  readonly isDefault: boolean;
  /** Whether only this machine can see what is sent to `url`. */
  readonly loopback: boolean;
  readonly apiKey: Credential | null;
}

export type ClientConfigResult =
  | { readonly ok: true; readonly config: ClientConfig }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the client's part of an environment; `given` is an address that goes before `PHM_URL`. */
export function readClientConfig(
  env: Readonly<Record<string, string | undefined>>,
  given: string | undefined,
): ClientConfigResult {
  const problems: string[] = [];
  const reader = new Reader(env, problems);
  const apiKey = reader.credential('PHM_API_KEY', 'PHM_API_KEY_FILE');
  const name = given === undefined ? 'PHM_URL' : '--url';
  const text = given ?? reader.text('PHM_URL');
  const isDefault = given === undefined && !env.PHM_URL?.trim();
  const url = URL.parse(text);
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  // The address may hold a password, and is not quoted then.
  if (!url || !isHttp || url.username || url.password || /[?#]/.test(text)) {
    problems.push(
      `${name} is not an address that can be used: write https://host/path, without user, query and fragment`,
    );
    return { ok: false, problems };
  }
  const loopback = isLoopback(url.hostname);
  if (url.protocol === 'http:' && !loopback && !reader.flag('PHM_ALLOW_CLEARTEXT')) {
    problems.push(
      `${name} is ${url.origin}, and the API key and keys would cross the network in the clear: use https:, ` +
        'or set PHM_ALLOW_CLEARTEXT=on where something else encrypts',
    );
  }
  return problems.length === 0
    ? { ok: true, config: { url: text, isDefault, loopback, apiKey } }
    : { ok: false, problems };
}
