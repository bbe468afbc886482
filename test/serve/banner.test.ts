/** The banner: its contents, its size, and no colours in pipes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { type Announcement, bannerText, listeningFields } from '../../src/serve/banner.ts';
import { DEMO_KEY } from '../support/servers/server.ts';

const ALL: Announcement = {
  address: 'http://127.0.0.1:8080',
  json: false,
  dashboard: true,
  data: '/var/lib/phm',
  requiresHybrid: true,
  metricsAddress: 'http://127.0.0.1:9464/metrics',
  demoApiKey: DEMO_KEY,
  demoKeysEnd: true,
  demoKeysEnded: false,
  commandLine: (words) => `npm run -s phm -- ${words}`,
  color: false,
};

describe('the banner', () => {
  it('names every address that is available, and no other', () => {
    const text = bannerText(ALL);
    assert.match(text, /Dashboard +http:\/\/127\.0\.0\.1:8080\/\n/);
    assert.match(text, /Documentation +http:\/\/127\.0\.0\.1:8080\/docs\n/);
    assert.match(text, /Data +\/var\/lib\/phm\n/);
    assert.match(text, /Metrics +http:\/\/127\.0\.0\.1:9464\/metrics\n/);
    assert.match(text, /Demo API key +phmsk_demo_/);
    assert.match(text, /Service +http:\S+:8080 {2}for clients with post-quantum TLS\n/);
    assert.match(text, /curl needs OpenSSL 3\.5 or newer:\n\n +curl -s http/);
    const nothing = {
      dashboard: false,
      requiresHybrid: false,
      metricsAddress: null,
      demoApiKey: null,
    };
    const bare = bannerText({ ...ALL, ...nothing });
    assert.doesNotMatch(bare, /Dashboard|TLS|OpenSSL|Metrics|phmsk_demo/);
    assert.match(bare, /account create .*\n.*api-key issue --account/);
    assert.match(bare, /X-API-Key: <API_KEY>/);
  });

  it('says whether an API key that is issued here ends the demo key', () => {
    assert.match(bannerText(ALL), /^ +public; ends when you issue an API key$/m);
    const lasting = bannerText({ ...ALL, demoKeysEnd: false });
    assert.match(lasting, /^ +public; works for anyone who reaches this server$/m);
    assert.doesNotMatch(lasting, /ends when/);
  });

  it('says that demo keys have ended', () => {
    const text = bannerText({ ...ALL, demoApiKey: null, demoKeysEnded: true });
    assert.match(text, /Demo keys have ended: use an API key that was issued here\./);
    assert.doesNotMatch(text, /phmsk_demo|api-key issue/);
  });

  it('fits 80 columns and 24 lines', () => {
    const without = { ...ALL, demoApiKey: null };
    for (const one of [ALL, without, { ...without, demoKeysEnded: true }]) {
      const lines = bannerText(one).split('\n');
      assert.ok(lines.length <= 24, `${lines.length} lines`);
      for (const line of lines) assert.ok(line.length <= 80, line);
    }
  });

  it('uses colours only if enabled, with the same text', () => {
    const plain = bannerText(ALL);
    assert.equal(stripVTControlCharacters(plain), plain);
    const painted = bannerText({ ...ALL, color: true });
    assert.notEqual(painted, plain);
    assert.equal(stripVTControlCharacters(painted), plain);
  });
});

describe('the log line of a server that is ready', () => {
  it('has the addresses and no API key', () => {
    const { version, ...fields } = listeningFields(ALL) as Record<string, unknown>;
    assert.match(String(version), /^\d+\.\d+\.\d+/);
    assert.deepEqual(fields, {
      address: 'http://127.0.0.1:8080',
      dashboard: 'http://127.0.0.1:8080/',
      docs: 'http://127.0.0.1:8080/docs',
      data: '/var/lib/phm',
      metrics: 'http://127.0.0.1:9464/metrics',
      demoKeys: true,
    });
    const nothing = { dashboard: false, metricsAddress: null, demoApiKey: null };
    const { dashboard, metrics, demoKeys } = listeningFields({
      ...ALL,
      ...nothing,
    }) as typeof fields;
    assert.deepEqual([dashboard, metrics, demoKeys], [null, null, false]);
  });
});
