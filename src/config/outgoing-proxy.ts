/**
 * Which requests of a command may take a proxy. Node takes those of the environment if `NODE_USE_ENV_PROXY` is 1.
 *
 * A request in the clear would show the proxy API keys and keys, so none takes one: to this machine it goes directly, and
 * elsewhere the client commands refuse it. Through a proxy, https: stays encrypted to its end.
 */
import { setGlobalProxyFromEnv } from '../node-http.ts';
import { isLoopback } from './reader.ts';

type Environment = Record<string, string | undefined>;

/** Node's variable that turns on the proxies of the environment. */
const SWITCH = 'NODE_USE_ENV_PROXY';

const SWITCH_OPTION = '--use-env-proxy';

const THIS_MACHINE: readonly string[] = ['localhost', '127.0.0.1', '::1', '[::1]'];

/** What else a connection reaches this machine by: the unspecified address is none to listen on, but one to call. */
const OWN_NAMES =
  /^(?:(?:.+\.)?localhost\.?|0\.0\.0\.0|\[::\]|\[::ffff:(?:7f[0-9a-f]{2}:[0-9a-f]+|0:0)\])$/;

function isThisMachine(host: string): boolean {
  return isLoopback(host) || OWN_NAMES.test(host);
}

/** Reports whether Node takes the proxies of this environment. `options` are those of the process. */
export function takesProxies(env: Readonly<Environment>, options: readonly string[] = []): boolean {
  const all = [...options, ...(env.NODE_OPTIONS ?? '').split(/\s+/)];
  return env[SWITCH] === '1' || all.includes(SWITCH_OPTION);
}

/**
 * Changes the environment of this process, and Node's settings in this thread: http: takes no proxy, nor does a request to
 * this machine, by whatever of its names `words` have in an address.
 */
export function limitProxies(env: Environment, words: readonly string[]): void {
  for (const name of ['HTTP_PROXY', 'http_proxy']) delete env[name];
  const own = words.flatMap((word) => {
    const host = URL.parse(word.replace(/^--?[\w-]+=/, ''))?.hostname ?? '';
    return isThisMachine(host) ? [host] : [];
  });
  const direct = [env.no_proxy ?? env.NO_PROXY ?? '', ...THIS_MACHINE, ...own].filter(Boolean);
  env.NO_PROXY = direct.join(',');
  env.no_proxy = env.NO_PROXY;
  setGlobalProxyFromEnv(env);
}

/** Returns why a request must not be sent: in the clear, to another machine, with a proxy set. Null if it may. */
export function cleartextProxyProblem(url: URL, env: Readonly<Environment>): string | null {
  const proxy = env.http_proxy || env.HTTP_PROXY;
  if (url.protocol !== 'http:' || isThisMachine(url.hostname) || !proxy || !takesProxies(env)) {
    return null;
  }
  if (isExempt(url, env.no_proxy ?? env.NO_PROXY ?? '')) return null;
  return (
    `${url.origin} is http:, and HTTP_PROXY names a proxy, which would see the whole request: use https:, or add ` +
    `${url.hostname} to NO_PROXY`
  );
}

/** Reports whether `NO_PROXY` names the host: alone, with its port, or as the end of it. */
function isExempt({ hostname, port }: URL, exemptions: string): boolean {
  return exemptions.split(/[\s,]+/).some((entry) => {
    const [, name = '', ofPort] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
    if (name === '' || (ofPort !== undefined && ofPort !== (port || '80'))) return false;
    return name === '*' || hostname === name || hostname.endsWith(`.${name}`);
  });
}
