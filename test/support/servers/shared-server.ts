/**
 * A server that the modules of a group of tests share (test/http/with-accounts/, test/http/with-demo-keys/),
 * because a start takes a second of processor time. It has no rate limits, logs everything, and ends with the
 * process.
 */
import { after } from 'node:test';
import { makeDataDir, removeDataDir, Server } from './server.ts';

export const dataDir: string = makeDataDir();

export const server: Server = await Server.start(dataDir, {
  PHM_RATE_LIMITS: 'off',
  PHM_LOG_LEVEL: 'trace',
});

after(async () => {
  await server.stop();
  removeDataDir(dataDir);
});
