/** Compares the data directory of a command with that of the server on this machine. */

import type { IncomingMessage } from 'node:http';
import { get as getTls } from 'node:https';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quote } from '#platform/terminal';
import type { Config } from '../../config/index.ts';
import { everyGroup } from '../../config/tls-profiles.ts';
import { DIRECTORY_ID_HEADER, readDirectoryId } from '../../files/data-directory.ts';
import { get as getCleartext } from '../../node-http.ts';
import { localAddress } from '../server-address.ts';

/** How long a server on this machine may take to answer. */
const TIMEOUT_MS = 1_000;

/** Usual data directories: of this installation, of the systemd unit, and in the working directory. */
const usualDirectories = () => [
  join(fileURLToPath(new URL('../../../', import.meta.url)), 'data'),
  '/var/lib/phm',
  resolve('data'),
];

/**
 * Returns a sentence about the server on `PHM_PORT` of this machine if it uses another data directory, otherwise
 * null. The sentence names that directory if this user may read its ID.
 */
export async function describeOtherServer(config: Config): Promise<string | null> {
  if (config.port === 0) return null;
  const address = localAddress(config);
  const id = await askDirectoryId(address);
  if (id === null || id === readDirectoryId(config.dataDir)) return null;
  const found = usualDirectories().find((directory) => readDirectoryId(directory) === id);
  return found === undefined
    ? `The server on ${address} uses another ledger. Its output at startup names it.`
    : `The server on ${address} uses another data directory: PHM_DATA_DIR=${quote(found)}`;
}

/** Returns the directory ID of the server, or null if no server or another program answers. */
function askDirectoryId(address: string): Promise<string | null> {
  return new Promise((done) => {
    const answered = (response: IncomingMessage) => {
      const id = response.headers[DIRECTORY_ID_HEADER];
      response.destroy();
      done(typeof id === 'string' ? id : null);
    };
    const url = `${address}/livez`;
    // The request has no secret and the answer only causes a hint, so any certificate will do. This machine has no proxy.
    const options = {
      rejectUnauthorized: false,
      agent: false as const,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ecdhCurve: everyGroup(),
    };
    const request = url.startsWith('https:')
      ? getTls(url, options, answered)
      : getCleartext(url, options, answered);
    request.on('error', () => done(null));
  });
}
