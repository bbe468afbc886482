/** Serves the files of a folder, as any static web server does. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

/** Browsers run a module and apply a style only if their types say so. */
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

export class FolderServer {
  readonly folder: string;
  readonly address: string;
  readonly #server: Server;

  private constructor(folder: string, server: Server) {
    this.folder = folder;
    this.#server = server;
    this.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(folder: string): Promise<FolderServer> {
    const server = createServer(({ url = '/' }, response) => {
      try {
        const { pathname } = new URL(url, 'http://x');
        const file = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
        const bytes = readFileSync(join(folder, file));
        const type = TYPES[extname(file)];
        response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(bytes);
      } catch {
        response.writeHead(404).end();
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FolderServer(folder, server);
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
