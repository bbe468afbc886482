/** Errors and names of listening addresses, for the service and for Prometheus. */
import type { AddressInfo } from 'node:net';
import { SetupError } from '../errors.ts';

interface ListenOrder {
  /** Start of the message: `cannot listen` or `cannot listen for metrics`. */
  readonly problem: string;
  readonly host: string;
  readonly port: number;
  /** What to change if the port is in use. */
  readonly portTaken: string;
  /** Prefix of the variables: `PHM` for `PHM_HOST` and `PHM_PORT`. */
  readonly variables: string;
}

/** Returns the error for an unusable address. Its message says what to change. */
export function listenError(cause: unknown, order: ListenOrder): SetupError {
  const { problem, host, port, portTaken, variables } = order;
  const { code, message } = cause as NodeJS.ErrnoException;
  const fixes: Readonly<Record<string, string>> = {
    EADDRINUSE: `${portTaken}, or stop the program that uses it`,
    EACCES: `choose a ${variables}_PORT above 1023, or allow this user to bind it`,
  };
  const fix = fixes[code ?? ''] ?? `check ${variables}_HOST`;
  return new SetupError(`${problem} on ${host} port ${port}: ${message}; ${fix}`, { cause });
}

/** Returns host and port as in a URL. */
export function authorityOf({ address, family, port }: AddressInfo): string {
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
