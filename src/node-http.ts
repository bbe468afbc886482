/**
 * Node's HTTP, for files that need more than its types. To import `node:http` evaluates each of its exports, and `WebSocket`
 * is one: with it comes undici, some 10 MiB and 80 ms of processor time of each process (docs/performance.md).
 */
export const { createServer, get, IncomingMessage, STATUS_CODES, setGlobalProxyFromEnv } =
  process.getBuiltinModule('node:http');
