/** `phm testbench`: serves the page that tests a file in the browser on loopback, or writes it to a file. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CommandError, untilStopped } from '../../../platform/src/commands/index.ts';
import type { LabContext } from './context.ts';
import { claimFile, replaceFile } from './page-file.ts';

const HOST = '127.0.0.1';

/** The page has a stricter policy of its own; browsers read this directive from headers only. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "frame-ancestors 'none'",
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const help = (name: string): string => `
The page runs the tests of SP 800-22 and the estimators of SP 800-90B on a file that you drop on it, in the browser, on
all cores. It sends nothing: the file stays on this computer. Its JSON, CSV and HTML are those of "${name} assess".

Without --output the command prints the address of the page and serves it until Ctrl-C. The file of --output works
from a disk and from any web server.
`;

export function addTestbenchCommand(program: Command, context: LabContext): void {
  program
    .command('testbench')
    .description('open a page that tests files of random bits in the browser')
    .option('--port <n>', 'port on 127.0.0.1; default: a free one', parsePort)
    .addOption(new Option('--output <file>', 'write the page to a file and end').conflicts('port'))
    .addHelpText('after', help(context.name))
    .action(async ({ port = 0, output }: { port?: number; output?: string }) => {
      const page = readPage(context.page);
      if (output === undefined) await serve(page, port, context);
      else write(page, output, context);
    });
}

function readPage(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new CommandError('the page is not built: run "npm run build"', 1);
  }
}

/** The mode is that of the user's mask, because a web server under another user may read the page. */
function write(page: string, path: string, { umask }: LabContext): void {
  replaceFile(claimFile(path, '--output'), page, 0o666 & ~umask);
}

async function serve(page: string, port: number, { out }: LabContext): Promise<void> {
  // For this command alone: an import of node:http also loads undici.
  const { createServer } = await import('node:http');
  await untilStopped(async (signal) => {
    const server = createServer(({ method, url }, response) => {
      const isPage = url === '/' && (method === 'GET' || method === 'HEAD');
      response.writeHead(isPage ? 200 : 404, isPage ? HEADERS : {});
      response.end(isPage && method === 'GET' ? page : '');
    });
    await listen(server, port);
    try {
      out(`http://${HOST}:${(server.address() as AddressInfo).port}/\n`);
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, HOST);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new CommandError(`port ${port} cannot be used: ${(error as Error).message}`, 1);
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new InvalidArgumentError('use a number from 0 to 65535.');
  }
  return port;
}
