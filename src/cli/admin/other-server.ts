/** Whether the server that callers on this machine reach works with the data directory of a command. */
import { get as getCleartext, type IncomingMessage } from 'node:http';
import { get as getTls } from 'node:https';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../config/index.ts';
import { DIRECTORY_ID_HEADER, readDirectoryId } from '../../files/data-directory.ts';
import { quote } from '../../shell-word.ts';
import { localAddress } from '../server-address.ts';

/** How long a server on this machine may take to answer. */
const TIMEOUT_MS = 1_000;

/** Where servers on this machine usually keep their data: this installation's, systemd's, and here. */
const usualDirectories = () => [
  join(fileURLToPath(new URL('../../../', import.meta.url)), 'data'),
  '/var/lib/phm',
  resolve('data'),
];

/**
 * A sentence about the server on `PHM_PORT` of this machine, if it works with another data directory; else
 * null. It names that directory if this user can see which one it is.
 */
export async function describeOtherServer(config: Config): Promise<string | null> {
  if (config.port === 0) return null;
  const address = localAddress(config);
  const id = await askDirectoryId(address);
  if (id === null || id === readDirectoryId(config.dataDir)) return null;
  const found = usualDirectories().find((directory) => readDirectoryId(directory) === id);
  return found === undefined
    ? `The server on ${address} works with another ledger: the lines it writes at its start name it.`
    : `The server on ${address} works with another data directory: PHM_DATA_DIR=${quote(found)}`;
}

/** The id that a server answers with; null when there is none, or another program has the port. */
function askDirectoryId(address: string): Promise<string | null> {
  return new Promise((done) => {
    const answered = (response: IncomingMessage) => {
      const id = response.headers[DIRECTORY_ID_HEADER];
      response.destroy();
      done(typeof id === 'string' ? id : null);
    };
    const url = `${address}/livez`;
    // Nothing secret is sent, and the answer only decides on a hint: no certificate has to be trusted.
    const options = { rejectUnauthorized: false, signal: AbortSignal.timeout(TIMEOUT_MS) };
    const request = url.startsWith('https:')
      ? getTls(url, options, answered)
      : getCleartext(url, options, answered);
    request.on('error', () => done(null));
  });
}
