/** The address at which callers on this machine reach the server that an environment describes. */
import { quote } from '#platform/terminal';
import { CLIENT_ENVIRONMENT, type Config } from '../config/index.ts';

/** A listener on one of these has every address of the machine. */
const ANY_ADDRESS: readonly string[] = ['0.0.0.0', '::'];

/** Returns the address without the base path. */
export function localAddress({ host, port, tls }: Config): string {
  const name = ANY_ADDRESS.includes(host) ? '127.0.0.1' : host;
  return `${tls ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/**
 * Returns the shell line that points the client commands to the server; null if it has the default address or its port
 * is unknown.
 */
export function exportUrl(config: Config): string | null {
  const url = `${localAddress(config)}${config.basePath}`;
  const isFound = config.port === 0 || url === CLIENT_ENVIRONMENT.PHM_URL.default;
  return isFound ? null : `export PHM_URL=${quote(url)}`;
}
