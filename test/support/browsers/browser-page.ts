/** Runs modules of a folder in a browser: a page on a local server sends its result back. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { CHROMIUM, FIREFOX } from './browser.ts';

export const BROWSERS = [
  {
    name: 'Chromium',
    path: CHROMIUM,
    options: (profile: string) => ['--headless', '--no-sandbox', `--user-data-dir=${profile}`],
  },
  {
    name: 'Firefox',
    path: FIREFOX,
    options: (profile: string) => ['--headless', '--no-remote', '--profile', profile],
  },
] as const;

const TYPES: Record<string, string> = {
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.html': 'text/html',
};

/**
 * Runs `module`, which sets `body`, a text, in a page that finds packages at `imports`. Returns the text. `folder` has
 * the files that the page may load, and gets the browser's profile.
 */
export async function runInBrowser(
  { path, options }: (typeof BROWSERS)[number],
  folder: string,
  imports: Readonly<Record<string, string>>,
  module: string,
): Promise<string> {
  writeFileSync(join(folder, 'page.html'), pageOf(imports, module));
  const { promise, resolve: answer } = Promise.withResolvers<string>();
  const server = await serve(folder, answer);
  const { port } = server.address() as AddressInfo;
  const profile = mkdtempSync(join(folder, 'profile-'));
  const address = `http://127.0.0.1:${port}/page.html`;
  // A browser that is told to end leaves its own temporary files. The path of its socket has at most 107 bytes.
  const temporary = mkdtempSync(join(tmpdir(), 'b-'));
  const env = { ...process.env, TMPDIR: temporary };
  const child = spawn(path ?? '', [...options(profile), address], { stdio: 'ignore', env });
  try {
    return await promise;
  } finally {
    child.kill();
    await once(child, 'exit');
    server.closeAllConnections();
    server.close();
    // Its processes may write until they have ended too.
    rmSync(temporary, { recursive: true, maxRetries: 10 });
  }
}

function pageOf(imports: Readonly<Record<string, string>>, module: string): string {
  return `<!DOCTYPE html><title>test</title>
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">let body;
try {
${module}
} catch (error) {
  body = String(error);
}
await fetch('/result', { method: 'POST', body });
</script>`;
}

async function serve(folder: string, answer: (text: string) => void): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      let body = '';
      for await (const part of request) body += part;
      response.end();
      answer(body);
      return;
    }
    try {
      const bytes = readFileSync(join(folder, request.url ?? ''));
      response.setHeader('Content-Type', TYPES[extname(request.url ?? '')] ?? 'text/plain');
      response.end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
