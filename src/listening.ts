/** What is said of an address to listen on: by the service's listener, and by the one for Prometheus. */
import type { AddressInfo } from 'node:net';
import { SetupError } from './errors.ts';

export interface ListenOrder {
  /** What listens, as the message has it: `cannot listen` or `cannot listen for metrics`. */
  readonly problem: string;
  readonly host: string;
  readonly port: number;
  /** What to change where the port is taken. */
  readonly portTaken: string;
  /** The beginning of its variables: `PHM` has `PHM_HOST` and `PHM_PORT`. */
  readonly variables: string;
}

/** The error of an address that cannot be had, with what to change. */
export function listenError(cause: unknown, order: ListenOrder): SetupError {
  const { problem, host, port, portTaken, variables } = order;
  const { code, message } = cause as NodeJS.ErrnoException;
  const fixes: Readonly<Record<string, string>> = {
    EADDRINUSE: `${portTaken}, or end the program that has it`,
    EACCES: `choose a ${variables}_PORT above 1023, or give this user the right to it`,
  };
  const fix = fixes[code ?? ''] ?? `check ${variables}_HOST`;
  return new SetupError(`${problem} on ${host} port ${port}: ${message}; ${fix}`, { cause });
}

/** Host and port as an address has them. */
export function authorityOf({ address, family, port }: AddressInfo): string {
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
