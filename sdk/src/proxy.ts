/**
 * Keeps cleartext away from proxies. With `NODE_USE_ENV_PROXY=1`, or after undici's `setGlobalDispatcher`, Node sends requests
 * through a proxy, also those to this machine, and http: would show it API keys and keys. Through a proxy, https: stays
 * encrypted to its end.
 */

/** Node keeps what sends the requests of `fetch` under these names, of which each version reads one. */
const DISPATCHERS = [
  Symbol.for('undici.globalDispatcher.2'),
  Symbol.for('undici.globalDispatcher.1'),
];

/** What sends requests: its members have symbols with these descriptions as names. */
type Dispatcher = object;

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

interface Environment {
  readonly [name: string]: string | undefined;
}

/**
 * Returns what must be added to the options of `fetch`, so that a request in the clear takes no proxy. Throws `TypeError` if
 * it would take one.
 */
export function withoutProxy(url: URL): { readonly dispatcher?: Dispatcher } {
  const proxy = url.protocol === 'http:' ? findProxy(url) : undefined;
  if (proxy === undefined) return {};
  const isLocal = LOOPBACK.test(url.hostname);
  const direct = memberOf(proxy, 'no proxy agent');
  if (isLocal && direct !== undefined) return { dispatcher: direct };
  throw new TypeError(
    `${url.origin} is http:, and this program sends requests through a proxy, which would see API key and keys: use https:, or add ${url.hostname} to NO_PROXY`,
  );
}

/** Returns what would send a request through a proxy; undefined if it goes directly. */
function findProxy(url: URL): Dispatcher | undefined {
  const all = globalThis as unknown as Record<symbol, Dispatcher | undefined>;
  const found = DISPATCHERS.map((name) => all[name]).filter((one) => one !== undefined);
  return found.find((dispatcher) => {
    const { name } = dispatcher.constructor;
    if (name === 'ProxyAgent') return true;
    if (name !== 'EnvHttpProxyAgent') return false;
    const direct = memberOf(dispatcher, 'no proxy agent');
    const isDirect = direct !== undefined && memberOf(dispatcher, 'http proxy agent') === direct;
    return !isDirect && !isExempt(url);
  });
}

function memberOf(dispatcher: Dispatcher, name: string): Dispatcher | undefined {
  const symbol = Object.getOwnPropertySymbols(dispatcher).find((one) => one.description === name);
  if (symbol === undefined) return undefined;
  return (dispatcher as Record<symbol, Dispatcher | undefined>)[symbol];
}

/** Reports whether `NO_PROXY` names the host as undici understands it: alone, with its port, or by its end after `.` or `*`. */
function isExempt({ hostname, port }: URL): boolean {
  const { process } = globalThis as { process?: { env?: Environment } };
  const { no_proxy: lower, NO_PROXY: upper } = process?.env ?? {};
  return (lower ?? upper ?? '').split(/[\s,]+/).some((entry) => {
    const [, name = '', ofPort] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (ofPort !== undefined && ofPort !== (port || '80')) return false;
    if (name === '*' || hostname === name) return true;
    return /^\*?\../.test(name) && hostname.endsWith(name.replace(/^\*/, ''));
  });
}
