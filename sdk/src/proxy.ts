/**
 * Keeps cleartext away from proxies. With `NODE_USE_ENV_PROXY=1`, or after undici's `setGlobalDispatcher`, Node sends requests
 * through a proxy, also those to this machine, and http: would show it API keys and keys. Through a proxy, https: stays
 * encrypted to its end, but the end of a name such as localhost would be the proxy's machine.
 */

/** Node keeps what sends the requests of `fetch` under these names, of which each version reads one. */
const DISPATCHERS = [
  Symbol.for('undici.globalDispatcher.2'),
  Symbol.for('undici.globalDispatcher.1'),
];

/** What sends requests: its members have symbols with these descriptions as names. */
type Dispatcher = object;

/** The forms that `URL` gives to names of this machine. A connection to the unspecified address reaches it too. */
const LOOPBACK =
  /^(?:(?:.+\.)?localhost\.?|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:(?:7f[0-9a-f]{2}:[0-9a-f]+|0:0)\])$/;

/** Classes of undici that send everything to a proxy. */
const PROXIES: ReadonlySet<string> = new Set(['ProxyAgent', 'Socks5ProxyAgent']);

interface Environment {
  readonly [name: string]: string | undefined;
}

/**
 * Returns what must be added to the options of `fetch`, so that a request in the clear, or to this machine, takes no proxy.
 * Throws `TypeError` if it would take one.
 */
export function withoutProxy(url: URL): { readonly dispatcher?: Dispatcher } {
  const isLocal = LOOPBACK.test(url.hostname);
  const proxy = url.protocol === 'http:' || isLocal ? findProxy(url) : undefined;
  if (proxy === undefined) return {};
  const direct = memberOf(proxy, 'no proxy agent');
  if (isLocal && direct !== undefined) return { dispatcher: direct };
  if (url.protocol !== 'http:') {
    throw new TypeError(
      `${url.origin} is this machine, and this program sends requests through a proxy, which would reach another: send these without it`,
    );
  }
  throw new TypeError(
    `${url.origin} is http:, and this program sends requests through a proxy, which would see API key and keys: use https:, or add ${url.hostname} to NO_PROXY`,
  );
}

/** Returns what would send a request through a proxy; undefined if it goes directly. */
function findProxy(url: URL): Dispatcher | undefined {
  const all = globalThis as unknown as Record<symbol, Dispatcher | undefined>;
  const found = DISPATCHERS.map((name) => all[name]).filter((one) => one !== undefined);
  return found.find((dispatcher) => {
    const names = classesOf(dispatcher);
    if (names.some((name) => PROXIES.has(name))) return true;
    if (!names.includes('EnvHttpProxyAgent')) return false;
    const direct = memberOf(dispatcher, 'no proxy agent');
    const used = memberOf(dispatcher, `${url.protocol.slice(0, -1)} proxy agent`);
    return !(direct !== undefined && used === direct) && !isExempt(url);
  });
}

/** Returns the names of a dispatcher's class and of those that it extends. */
function classesOf(dispatcher: Dispatcher): string[] {
  const names: string[] = [];
  let at: object | null = Object.getPrototypeOf(dispatcher);
  for (; at !== null; at = Object.getPrototypeOf(at)) names.push(at.constructor.name);
  return names;
}

function memberOf(dispatcher: Dispatcher, name: string): Dispatcher | undefined {
  const symbol = Object.getOwnPropertySymbols(dispatcher).find((one) => one.description === name);
  if (symbol === undefined) return undefined;
  return (dispatcher as Record<symbol, Dispatcher | undefined>)[symbol];
}

/** Reports whether `NO_PROXY` names the host as undici understands it: alone, with its port, or by its end after `.` or `*`. */
function isExempt({ protocol, hostname, port }: URL): boolean {
  const { process } = globalThis as { process?: { env?: Environment } };
  const { no_proxy: lower, NO_PROXY: upper } = process?.env ?? {};
  return (lower ?? upper ?? '').split(/[\s,]+/).some((entry) => {
    const [, name = '', ofPort] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (ofPort !== undefined && ofPort !== (port || (protocol === 'http:' ? '80' : '443')))
      return false;
    if (name === '*' || hostname === name) return true;
    return /^\*?\../.test(name) && hostname.endsWith(name.replace(/^\*/, ''));
  });
}
