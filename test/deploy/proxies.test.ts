/** Examples of reverse proxies mark requests as forwarded. Otherwise the demo keys would be open to everyone. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ENVIRONMENT } from '../../src/config/index.ts';
import { AppError } from '../../src/errors.ts';
import { problemBody } from '../../src/http/wire/problem.ts';
import { deployFiles, find, ROOT, readText } from './files.ts';

/** Patterns by which each proxy forwards requests and sets a header. */
const PROXIES = [
  {
    name: 'nginx',
    passes: /\bproxy_pass\s/,
    sets: (header: string) => `proxy_set_header ${header} `,
  },
  { name: 'Caddy', passes: /\breverse_proxy\s/, sets: (header: string) => `header_up ${header} ` },
  {
    name: 'HAProxy',
    passes: /\b(?:use_backend|default_backend)\s/,
    sets: (header: string) => `http-request set-header ${header} `,
  },
];

const HEADERS = ['X-Forwarded-For', 'X-Forwarded-Proto'];

/** Configuration files, and code blocks of documents. */
function examples(): { where: string; text: string }[] {
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  const documents = ['README.md', 'deploy/README.md', ...pages.map((name) => `docs/${name}`)];
  const blocks = documents.flatMap((where) =>
    [...readText(where).matchAll(/(?:^ {4}.*\n|^```[\s\S]*?^```\n)+/gm)].map(([text]) => ({
      where,
      text,
    })),
  );
  const files = deployFiles().filter((path) => !path.endsWith('.md'));
  return [...files.map((where) => ({ where, text: readText(where) })), ...blocks];
}

describe('a reverse proxy example', () => {
  it('sets the headers by which the service detects a forwarded request', () => {
    const found: string[] = [];
    for (const { where, text } of examples()) {
      for (const { name, passes, sets } of PROXIES) {
        if (!passes.test(text)) continue;
        found.push(`${name} in ${where}`);
        for (const header of HEADERS) {
          assert.ok(text.includes(sets(header)), `${name} in ${where} does not set ${header}`);
        }
      }
    }
    assert.deepEqual(found.sort(), [
      'Caddy in deploy/caddy/Caddyfile',
      'HAProxy in deploy/compose/haproxy.cfg',
      'HAProxy in docs/configuration.md',
      'nginx in deploy/nginx/phm.conf',
      'nginx in docs/configuration.md',
    ]);
  });

  it('removes the Forwarded header of the client', () => {
    for (const path of [
      'deploy/nginx/phm.conf',
      'deploy/caddy/Caddyfile',
      'deploy/compose/haproxy.cfg',
    ]) {
      assert.match(readText(path), /Forwarded "";|header_up -Forwarded|del-header Forwarded/, path);
    }
  });

  it('answers its own errors as the service does', () => {
    const found = new Map<string, string[]>();
    for (const where of deployFiles().filter((path) => !path.endsWith('.md'))) {
      const text = readText(where);
      for (const [document] of text.matchAll(
        /\{\s*"success": ?false[\s\S]*?"timestamp": ?"[\s\S]*?"\s*\}(?=\s|[`'])/g,
      )) {
        const body = JSON.parse(document.replace(/\{\{.*?\}\}/, 'now'));
        const own = problemBody(new AppError(body.code), { requestId: body.request_id, nowMs: 0 });
        const { detail, timestamp } = body;
        assert.deepEqual(body, { ...own, detail, timestamp }, where);
        found.set(where, [...(found.get(where) ?? []), body.code]);
      }
    }
    const codes = [...found].map(([where, all]) => [where, all.sort()]);
    const broken = ['ledger_unavailable', 'overloaded'];
    const refused = ['headers_too_large', 'internal_error', 'malformed_request'];
    assert.deepEqual(Object.fromEntries(codes), {
      'deploy/caddy/Caddyfile': broken,
      'deploy/compose/errors/408.json': ['request_timeout'],
      'deploy/compose/errors/429.json': ['rate_limited'],
      'deploy/compose/errors/500.json': ['internal_error'],
      'deploy/compose/errors/503.json': ['overloaded'],
      'deploy/compose/errors/lost.json': ['ledger_unavailable'],
      'deploy/nginx/phm.conf': [
        ...[...broken, ...refused, 'payload_too_large', 'unsupported_transfer_encoding'].sort(),
      ],
    });
  });

  it('opens fewer connections than a server admits', () => {
    const places = Number(ENVIRONMENT.PHM_MAX_CONNECTIONS.default);
    for (const [path, ...patterns] of [
      ['deploy/compose/haproxy.cfg', / maxconn (\d+) pool/, / pool-max-conn (\d+)/],
      ['deploy/nginx/phm.conf', / max_conns=(\d+)/],
      ['deploy/caddy/Caddyfile', /max_conns_per_host (\d+)/],
    ] as const) {
      const most = patterns.map((pattern) => Number(find(readText(path), pattern)));
      assert.ok(most.reduce((sum, count) => sum + count) <= 0.8 * places, `${path}: ${most}`);
    }
  });

  it('for nginx has enough client and server connections, and files for those', () => {
    const text = readText('deploy/nginx/phm.conf');
    const [servers = 0, connections = 0, files = 0] = [
      / max_conns=(\d+)/,
      /worker_connections (\d+);/,
      /worker_rlimit_nofile (\d+);/,
    ].map((pattern) => Number(find(text, pattern)));
    assert.ok(connections > 3 * servers, `${connections}`);
    assert.ok(files > connections, `${files}`);
  });

  it('turns demo keys off wherever deploy/ sets variables', () => {
    assert.equal(ENVIRONMENT.PHM_DEMO_KEYS.default, 'auto');
    for (const path of [
      'deploy/compose/compose.yaml',
      'deploy/kubernetes/base/configmap.yaml',
      'deploy/systemd/phm.env.example',
    ]) {
      assert.match(readText(path), /^\s*PHM_DEMO_KEYS(?:: "off"|=off)$/m, path);
    }
  });
});
