/** A web page with a bundle of the client, and the versions of Node that the client runs on. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { findNode20 } from '../programs/node-20.ts';
import { fetchNode22 } from '../programs/node-22.ts';

/** Name, program and reason to skip of each version of Node. */
type ClientNode = readonly [name: string, path: string, skip: string | false];

export async function clientNodes(): Promise<readonly ClientNode[]> {
  const node22 = await fetchNode22();
  const node20 = findNode20();
  return [
    ['Node 20', node20 ?? '', node20 === undefined && "there is no Node 20 on this machine's PATH"],
    ['Node 22', node22.path, node22.skip],
    ['Node 26', process.execPath, false],
  ];
}

const HTML = '<!doctype html><script type="module" src="page.js"></script>';

export class ClientPage {
  readonly #folder = mkdtempSync(join(tmpdir(), 'client-page-'));
  readonly #server: Server;
  readonly #requested: string[] = [];

  private constructor() {
    this.#server = createServer((request, response) => {
      const path = request.url?.slice(1) ?? '';
      this.#requested.push(path);
      const isScript = path.endsWith('.js');
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? readFileSync(join(this.#folder, 'out', path)) : HTML);
    });
  }

  /** Bundles a script, with further modules beside it, and serves it. */
  static async start(
    script: string,
    modules: Readonly<Record<string, string>> = {},
  ): Promise<ClientPage> {
    const page = new ClientPage();
    const files = { 'page.js': script, ...modules };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(page.#folder, name), text);
    await build({
      configFile: false,
      logLevel: 'warn',
      root: page.#folder,
      build: {
        outDir: 'out',
        modulePreload: { polyfill: false },
        rolldownOptions: {
          input: join(page.#folder, 'page.js'),
          output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
        },
      },
    });
    await new Promise<void>((done) => page.#server.listen(0, '127.0.0.1', done));
    return page;
  }

  /** Address of the page. It counts requests from here on. */
  visit(): string {
    this.#requested.length = 0;
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Names of the files that the page loads later, if at all. */
  get chunks(): readonly string[] {
    return readdirSync(join(this.#folder, 'out')).filter((file) => file !== 'page.js');
  }

  /** Names of the chunks that the page requested. */
  get loaded(): readonly string[] {
    return this.chunks.filter((chunk) => this.#requested.includes(chunk));
  }

  close(): void {
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
