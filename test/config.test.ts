import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Config, ENVIRONMENT, readClientConfig, readConfig } from '../src/config/index.ts';
import type { Row, Setting } from '../src/config/setting.ts';
import { SOURCE_NAMES } from '../src/entropy/index.ts';

const CONTEXT = { cores: 4, knownSources: SOURCE_NAMES, serves: true };

function accept(env: Record<string, string>): Config {
  const result = readConfig(env, CONTEXT);
  assert.ok(result.ok, result.ok ? '' : result.problems.join('; '));
  return result.config;
}

function problems(env: Record<string, string>): string {
  const result = readConfig(env, CONTEXT);
  return result.ok ? '' : result.problems.join('\n');
}

/** A value that each variable could have, by what it is. */
const KINDS: Record<string, string> = { path: '/srv/phm', command: 'cat secret', text: 'value' };

describe('configuration', () => {
  it('enforces the bounds and the choices of each row, which the documentation shows', () => {
    for (const [name, { bounds, choices }] of Object.entries<Setting>(ENVIRONMENT)) {
      if (bounds) {
        const [min, max] = bounds;
        const refusal = `use a whole number from ${min} to ${max}`;
        for (const inside of [min, max]) {
          assert.doesNotMatch(problems({ [name]: `${inside}` }), new RegExp(refusal), name);
        }
        for (const outside of [min - 1, max + 1]) {
          assert.match(problems({ [name]: `${outside}` }), new RegExp(`${name} .*${refusal}`));
        }
      }
      if (choices) {
        const refusal = `use one of ${choices.join(', ')}`;
        assert.match(
          problems({ [name]: 'neither' }),
          new RegExp(`${name} is "neither": ${refusal}`),
        );
        for (const one of choices) assert.ok(!problems({ [name]: one }).includes(refusal), name);
      }
    }
  });

  it('refuses quotes around any value, and says which', () => {
    for (const [name, { kind = 'text' }] of Object.entries<Row>(ENVIRONMENT)) {
      for (const quote of ['"', "'"]) {
        const found = problems({ [name]: `${quote}${KINDS[kind]}${quote}` });
        assert.match(found, new RegExp(`^${name} is in quotes`, 'm'), found);
        assert.equal(found.split(name).length, 2, found);
      }
    }
    const url = readClientConfig({ PHM_URL: '"http://127.0.0.1:8080"' }, undefined);
    assert.deepEqual(url.ok ? [] : url.problems, [
      'PHM_URL is in quotes, which nothing has removed: write the value without them',
    ]);
    const secret = problems({ PHM_MASTER_KEY: `"${'ab'.repeat(32)}"` });
    assert.doesNotMatch(secret, /abab/);
  });

  it('refuses paths that a shell should have changed, for every variable that names one', () => {
    const ofPaths = Object.entries<Row>(ENVIRONMENT).filter(([, { kind }]) => kind === 'path');
    assert.ok(ofPaths.length > 10);
    for (const [name] of ofPaths) {
      for (const [value, words] of [
        ['~', /begins with "~"/],
        ['~/phm', /begins with "~"/],
        ['~ada/phm', /begins with "~"/],
        ['$HOME/phm', /has the variable HOME/],
        [`\${HOME}/phm`, /has the variable HOME/],
        [`/srv/\${SITE:-x}/phm`, /has the variable SITE/],
        ['%USERPROFILE%/phm', /has the variable USERPROFILE/],
        ['$(pwd)/phm', /has the variable/],
        ['"/srv/phm', /is in quotes/],
        ['/srv/"phm"', /has quotes/],
        ['/srv/phm"', /has quotes/],
        ['C:\\phm', /path of Windows/],
        ['file:///srv/phm', /is an address/],
        ['/srv/phm  # data', /holds a comment/],
        ['/srv/a\nb', /character that nobody sees \(U\+000A\)/],
        ['/srv/\u200bphm', /character that nobody sees \(U\+200B\)/],
        ['/srv/\ufeffphm', /character that nobody sees \(U\+FEFF\)/],
        ['/srv/\u202ephm', /character that nobody sees \(U\+202E\)/],
        ['/srv/\u{e0041}phm', /character that nobody sees \(U\+E0041\)/],
        ['„/srv/phm“', /is in quotes/],
        ['«/srv/phm»', /is in quotes/],
        ['/srv/`hostname`', /has quotes/],
        ['/srv/~/phm', /holds "~"/],
        ['%h/phm', /has the placeholder %h/],
        ['/srv/%i', /has the placeholder %i/],
        ['%(here)s/phm', /has the placeholder %\(here\)s/],
        ['!USERPROFILE!', /has the placeholder !USERPROFILE!/],
        ['{{ .Values.dir }}/phm', /has the placeholder {{ .Values.dir }}/],
        ['@localstatedir@/phm', /has the placeholder @localstatedir@/],
        ['/srv/<name>/phm', /has the placeholder <name>/],
        ['/srv/my\\ data', /has a backslash/],
        ['\\~/phm', /has a backslash/],
        ['data\\phm', /has a backslash/],
      ] as const) {
        const found = problems({ [name]: value });
        assert.match(found, words, `${name}=${value}`);
        assert.ok(found.startsWith(`${name} `), found);
      }
    }
  });

  it('takes names that only look so, and drops what line ends leave behind', () => {
    for (const [value, path] of [
      ['./~phm', join(process.cwd(), '~phm')],
      ['/srv/a$b', '/srv/a$b'],
      ['/srv/100%', '/srv/100%'],
      ['/srv/%hour', '/srv/%hour'],
      ['/srv/phm@2', '/srv/phm@2'],
      ['/srv/a<b', '/srv/a<b'],
      ['/srv/می\u200cخواهم', '/srv/می\u200cخواهم'],
      ['\ufeff/srv/phm\u00a0', '/srv/phm'],
      ["/srv/ada's", "/srv/ada's"],
      ['/srv/a#b', '/srv/a#b'],
      [' /srv/phm \r', '/srv/phm'],
    ] as const) {
      assert.equal(accept({ PHM_DATA_DIR: value }).dataDir, path);
    }
    accept({ PHM_MASTER_KEY_COMMAND: "'/opt/my tool' --key ~/k $HOME" });
  });

  it('refuses a variable that nothing has replaced, and a name with more than the name', () => {
    assert.match(problems({ PHM_HOST: `\${HOST}` }), /^PHM_HOST has the variable HOST/);
    for (const name of [
      'export PHM_DATA_DIR',
      'PHM_DATA_DIR ',
      ' PHM_DATA_DIR',
      'PHM_DATA_DIR\r',
    ]) {
      assert.match(
        problems({ [name]: '/srv/phm' }),
        /is not PHM_DATA_DIR: write PHM_DATA_DIR=…/,
        name,
      );
    }
    assert.match(
      readConfig({ PHM_DATA_DIR: ' ' }, CONTEXT).warnings.join(),
      /PHM_DATA_DIR is empty/,
    );
  });

  it('has the documented defaults', () => {
    const config = accept({});
    assert.equal(config.host, '127.0.0.1');
    assert.equal(config.port, 8080);
    assert.match(config.dataDir, /\/data$/);
    assert.equal(config.databaseUrl, null);
    assert.deepEqual(config.entropySources, ['os', 'quantum-simulator']);
    assert.equal(config.suiteWorkers, 4);
    assert.equal(config.rateLimits, true);
    assert.equal(config.demoKeys, 'auto');
    assert.equal(config.migrate, 'off');
    assert.equal(config.retentionDays, null);
    assert.equal(config.masterSecret.kind, 'managed');
    assert.equal(config.metrics, null);
    assert.equal(config.logFormat, 'auto');
  });

  it('keeps the state of the log beside the data directory, never in it', () => {
    const { log } = accept({ PHM_DATA_DIR: '/srv/phm' });
    assert.deepEqual(log, {
      mode: 'auto',
      keys: { kind: 'managed', path: '/srv/phm/log.key' },
      stateFile: '/srv/phm.log-state',
      witnessesFile: null,
      intervalMs: 1000,
    });
    const inside = { PHM_DATA_DIR: '/srv/phm', PHM_LOG_STATE_FILE: '/srv/phm/log-state' };
    assert.match(problems(inside), /PHM_LOG_STATE_FILE is in the data directory/);
    assert.equal(
      accept({ ...inside, PHM_LOG_STATE_FILE: '/srv/phm-2' }).log.stateFile,
      '/srv/phm-2',
    );
  });

  it('takes the keys of the log from one place, and bounds its interval', () => {
    const both = { PHM_LOG_KEY: 'text', PHM_LOG_KEY_FILE: '/run/secrets/log.key' };
    assert.match(problems(both), /PHM_LOG_KEY and PHM_LOG_KEY_FILE are both set: keep one/);
    for (const interval of ['99', '86400001', '1.5']) {
      assert.match(problems({ PHM_LOG_INTERVAL_MS: interval }), /from 100 to 86400000/);
    }
    assert.match(problems({ PHM_TRANSPARENCY_LOG: 'on' }), /use one of auto, off/);
  });

  it('enables a metrics listener if its port is set', () => {
    const loopback = { host: '127.0.0.1', port: 9464 };
    assert.deepEqual(accept({ PHM_METRICS_PORT: '9464' }).metrics, loopback);
    const everywhere = accept({ PHM_METRICS_PORT: '0', PHM_METRICS_HOST: '[::]' }).metrics;
    assert.deepEqual(everywhere, { host: '::', port: 0 });
    assert.equal(accept({ PHM_METRICS_HOST: '0.0.0.0' }).metrics, null);
    assert.match(problems({ PHM_METRICS_PORT: 'on' }), /PHM_METRICS_PORT is "on": use a whole/);
  });

  it('reports every invalid variable with its fix in one message', () => {
    const text = problems({
      PHM_PORT: '80a',
      PHM_DEMO_KEYS: 'yes',
      PHM_WORKERS: '0',
      PHM_ENTROPY_SOURCE: 'dice',
      PHM_ENTROPY_SOURCES: 'os,dice',
      PHM_LOG_LEVEL: 'loud',
      PHM_LOG_FORMAT: 'xml',
      PHM_RATE_LIMITS: 'maybe',
      PHM_MIGRATE: 'on',
      PHM_RETENTION_DAYS: '0',
      PHM_MAX_CLOCK_SKEW_SECONDS: '0',
    });
    assert.match(text, /PHM_PORT is "80a": use a whole number from 0 to 65535/);
    assert.match(text, /PHM_DEMO_KEYS is "yes": use one of auto, on, off/);
    assert.match(text, /PHM_WORKERS is "0": use a whole number from 1 to 64/);
    assert.match(text, /PHM_ENTROPY_SOURCE is "dice": use one of os, quantum-simulator, jitter/);
    assert.match(text, /PHM_ENTROPY_SOURCES contains "dice"/);
    assert.match(text, /PHM_LOG_LEVEL is "loud"/);
    assert.match(text, /PHM_LOG_FORMAT is "xml": use one of auto, json, pretty/);
    assert.match(text, /PHM_RATE_LIMITS is "maybe": use one of on, off/);
    assert.match(text, /PHM_MIGRATE is "on": use one of auto, off/);
    assert.match(text, /PHM_MAX_CLOCK_SKEW_SECONDS is "0": use a whole number from 1 to 86400/);
    assert.match(text, /PHM_RETENTION_DAYS is "0": use a whole number from 1 to 36500/);
  });

  it('allows other hosts than loopback only with a certificate or an explicit setting', () => {
    assert.match(problems({ PHM_HOST: '0.0.0.0' }), /PHM_ALLOW_CLEARTEXT=on/);
    assert.equal(accept({ PHM_HOST: '0.0.0.0', PHM_ALLOW_CLEARTEXT: 'on' }).host, '0.0.0.0');
    const tls = { PHM_TLS_CERT_FILE: 'c.pem', PHM_TLS_KEY_FILE: 'k.pem' };
    assert.ok(accept({ PHM_HOST: '0.0.0.0', ...tls }).tls);
    for (const host of ['::1', 'localhost', '127.0.0.53'])
      assert.equal(accept({ PHM_HOST: host }).host, host);
    assert.match(problems({ PHM_HOST: '127.0.0.1.example.com' }), /other machines can reach/);
  });

  it('requires certificate and key together', () => {
    assert.match(problems({ PHM_TLS_CERT_FILE: 'c.pem' }), /PHM_TLS_KEY_FILE is missing/);
    assert.match(problems({ PHM_TLS_KEY_FILE: 'k.pem' }), /PHM_TLS_CERT_FILE is missing/);
  });

  it('takes a TLS profile only on a listener with a certificate', () => {
    const tls = { PHM_TLS_CERT_FILE: 'c.pem', PHM_TLS_KEY_FILE: 'k.pem' };
    assert.equal(accept(tls).tls?.profile, 'default');
    const PHM_TLS_PROFILE = 'bsi';
    assert.equal(accept({ ...tls, PHM_TLS_PROFILE }).tls?.profile, 'bsi');
    assert.match(problems({ PHM_TLS_PROFILE }), /is bsi but there is no certificate.*proxy/s);
    assert.ok(accept({ PHM_TLS_PROFILE: 'default' }), 'as without it');
    const command = readConfig({ PHM_TLS_PROFILE }, { ...CONTEXT, serves: false });
    assert.ok(command.ok, 'a command listens nowhere');
    assert.match(
      problems({ ...tls, PHM_TLS_PROFILE: 'nist' }),
      /PHM_TLS_PROFILE is "nist": use one of default, post-quantum, bsi, cnsa, cnsa-2/,
    );
    assert.doesNotMatch(problems({ PHM_TLS_PROFILE: 'nist' }), /certificate/);
  });

  it('does not start with the former name of a profile, which would refuse no client', () => {
    const former = { PHM_TLS_REQUIRE_HYBRID: 'on' };
    assert.match(problems(former), /set PHM_TLS_PROFILE=post-quantum/);
    const command = readConfig(former, { ...CONTEXT, serves: false });
    assert.ok(command.ok && command.warnings.length === 1);
  });

  it('requires one origin of the master secret and never quotes it', () => {
    const secret = 'ab'.repeat(32);
    assert.equal(accept({ PHM_MASTER_KEY: secret }).masterSecret.kind, 'environment');
    const text = problems({ PHM_MASTER_KEY: secret, PHM_MASTER_KEY_FILE: '/k' });
    assert.match(text, /both set/);
    assert.ok(!text.includes(secret));
  });

  it('accepts a complete PostgreSQL URL with a master secret, and never quotes it', () => {
    const PHM_DATABASE_URL = 'postgres://phm:not-for-any-log@db.example/phm?sslmode=verify-full';
    assert.equal(
      accept({ PHM_DATABASE_URL, PHM_MASTER_KEY_FILE: '/k' }).databaseUrl,
      PHM_DATABASE_URL,
    );
    assert.match(
      problems({ PHM_DATABASE_URL }),
      /set PHM_MASTER_KEY_FILE, PHM_MASTER_KEY_COMMAND or/,
    );
    for (const url of [
      'mysql://phm:not-for-any-log@db.example/phm',
      'postgres://phm:not-for-any-log@db.example',
      'postgres://db.example/not-for-any-log',
      'not-for-any-log',
    ]) {
      const text = problems({ PHM_DATABASE_URL: url, PHM_MASTER_KEY_FILE: '/k' });
      assert.match(text, /PHM_DATABASE_URL is not the address/);
      assert.ok(!text.includes('not-for-any-log'));
    }
  });

  it('refuses PostgreSQL URL parameters that the driver would ignore', () => {
    const env = (parameters: string) => ({
      PHM_DATABASE_URL: `postgres://phm:not-for-any-log@db.example/phm?${parameters}`,
      PHM_MASTER_KEY_FILE: '/k',
    });
    assert.ok(accept(env('sslmode=verify-full&sslrootcert=/ca.pem')).databaseUrl);
    for (const bad of ['sslmod=verify-full', 'sslmode=bogus', 'sslmode=', 'constructor=x']) {
      assert.match(
        problems(env(bad)),
        /unknown parameter, or a parameter with an unknown value: (sslmode?|constructor)/,
      );
    }
  });

  it('requires a certificate and a shared master secret for the server, but not for commands', () => {
    const env = { PHM_HOST: '0.0.0.0', PHM_DATABASE_URL: 'postgres://phm:x@db.example/phm' };
    assert.match(problems(env), /PHM_TLS_CERT_FILE/);
    assert.match(problems(env), /PHM_MASTER_KEY_FILE/);
    assert.ok(readConfig(env, { ...CONTEXT, serves: false }).ok);
  });

  it('accepts the current version of the master secret', () => {
    assert.equal(accept({}).masterSecret.currentVersion, undefined);
    assert.equal(accept({ PHM_MASTER_KEY_VERSION: '2' }).masterSecret.currentVersion, 2);
    assert.match(problems({ PHM_MASTER_KEY_VERSION: '0' }), /a whole number from 1 to 65535/);
  });

  it('accepts a drain notice of 0 to 300 seconds, 2 by default', () => {
    assert.equal(accept({}).drainSeconds, 2);
    assert.equal(accept({ PHM_DRAIN_SECONDS: '0' }).drainSeconds, 0);
    assert.equal(accept({ PHM_DRAIN_SECONDS: '300' }).drainSeconds, 300);
    for (const bad of ['301', '-1', '1.5', '2s'])
      assert.match(problems({ PHM_DRAIN_SECONDS: bad }), /a whole number from 0 to 300/);
  });

  it('accepts 1 to 1,000,000 connections, 2,000 by default', () => {
    assert.equal(accept({}).maxConnections, 2_000);
    assert.equal(accept({ PHM_MAX_CONNECTIONS: '1' }).maxConnections, 1);
    for (const bad of ['0', '1000001', 'many'])
      assert.match(problems({ PHM_MAX_CONNECTIONS: bad }), /a whole number from 1 to 1000000/);
  });

  it('accepts addresses, ranges and names of proxies, but never every address', () => {
    assert.deepEqual(accept({}).trustedProxies, []);
    const PHM_TRUST_PROXY = 'loopback, 192.0.2.7,10.0.0.0/8 ,2001:db8::/32';
    assert.deepEqual(
      accept({ PHM_TRUST_PROXY }).trustedProxies.map((one) => `${one.address}/${one.prefix}`),
      ['127.0.0.0/8', '::1/128', '192.0.2.7/32', '10.0.0.0/8', '2001:db8::/32'],
    );
    for (const bad of [
      ...['true', '*', '1', 'proxy.example', '0.0.0.0/0', '::/0', '10.0.0.0/33', '10.0.0.0/'],
      ...['::1/129', '10.0.0.0/8/8', 'fe80::1%eth0', '10.0.0', 'constructor'],
    ]) {
      const text = problems({ PHM_TRUST_PROXY: `loopback,${bad}` });
      assert.ok(text.includes(`PHM_TRUST_PROXY contains "${bad}": use addresses`), bad);
    }
  });

  it('accepts a base path of plain segments, except the path of a probe', () => {
    assert.equal(accept({}).basePath, '');
    for (const path of ['/phm', '/security/phm', '/a.b/c_d~e-f'])
      assert.equal(accept({ PHM_BASE_PATH: path }).basePath, path);
    for (const bad of [
      ...['/', 'phm', '/phm/', '//phm', '/a//b', '/..', '/a/../b', '/.a', '/a b', '/a%2fb', '/*'],
      ...['/:x', 'https://x.example/phm', '/a?b', '/a#b', '/é'],
    ]) {
      assert.match(
        problems({ PHM_BASE_PATH: bad }),
        /PHM_BASE_PATH is ".*": write a path such as \/phm/,
        bad,
      );
    }
    assert.match(problems({ PHM_BASE_PATH: '/health' }), /the address of a probe/);
  });

  it('accepts exact origins, but never every origin', () => {
    assert.deepEqual(accept({}).corsOrigins, []);
    assert.deepEqual(
      accept({ PHM_CORS_ORIGINS: 'https://app.example, http://localhost:5173,' }).corsOrigins,
      ['https://app.example', 'http://localhost:5173'],
    );
    const bad: [string, RegExp][] = [
      ['*', /any page could then use an API key/],
      ['https://*.app.example', /any page could then use an API key/],
      ['null', /use origins such as/],
      ['app.example', /use origins such as/],
      ['file:///x', /use origins such as/],
      ['https://app.example/', /write it as browsers send it: https:\/\/app\.example$/],
      ['https://App.example', /send it: https:\/\/app\.example$/],
      ['https://app.example:443', /send it: https:\/\/app\.example$/],
      ['https://user@app.example', /send it: https:\/\/app\.example$/],
      ['https://app.example/phm?x', /send it: https:\/\/app\.example$/],
    ];
    for (const [origin, message] of bad) {
      const text = problems({ PHM_CORS_ORIGINS: `https://ok.example,${origin}` });
      assert.ok(text.includes('PHM_CORS_ORIGINS contains'), origin);
      assert.match(text, message);
    }
  });

  it('reads the PostgreSQL URL from a file and never quotes it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'config-'));
    try {
      const file = join(folder, 'url');
      const env = { PHM_DATABASE_URL_FILE: file, PHM_MASTER_KEY_FILE: '/k' };
      assert.match(
        problems(env),
        /PHM_DATABASE_URL_FILE: \S+url cannot be read: there is no such file$/m,
      );
      const url = 'postgres://phm:not-for-any-log@db.example/phm';
      writeFileSync(file, `${url}\n`);
      assert.equal(accept(env).databaseUrl, url);
      assert.match(problems({ ...env, PHM_DATABASE_URL: url }), /both set: keep one/);
      assert.match(problems({ PHM_DATABASE_URL_FILE: file }), /set PHM_MASTER_KEY_FILE, PHM/);
      // An empty file must not mean SQLite.
      for (const text of ['', 'mysql://phm:not-for-any-log@db.example/phm']) {
        writeFileSync(file, text);
        assert.match(problems(env), /the file in PHM_DATABASE_URL_FILE is not the address/);
        assert.ok(!problems(env).includes('not-for-any-log'));
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('warns of a misspelt variable', () => {
    const result = readConfig({ PHM_PROT: '1', HOME: '/' }, CONTEXT);
    assert.ok(result.ok);
    assert.equal(result.warnings.length, 1);
    assert.match(result.warnings[0] ?? '', /PHM_PROT is not a variable/);
    const misspelt = { PHM_TLS_CERT: 'c.pem', PHM_TLS_PROFILE: 'bsi' };
    const refused = readConfig(misspelt, CONTEXT);
    assert.equal(refused.ok, false);
    assert.match(refused.warnings[0] ?? '', /PHM_TLS_CERT is not a variable/);
  });

  it('requires the settings of every enabled source, and names them', () => {
    const enabled = { PHM_ENTROPY_SOURCES: 'os,device,ibm-quantum', PHM_ENTROPY_MIX: 'qrng' };
    const text = problems(enabled);
    assert.match(text, /"device" is enabled but not set up: set PHM_DEVICE_PATH/);
    assert.match(text, /"ibm-quantum" is enabled but not set up: set PHM_IBM_API_KEY/);
    assert.match(text, /"qrng" is enabled but not set up: set PHM_QRNG_PROFILE/);
    const config = accept({
      ...enabled,
      PHM_DEVICE_PATH: '/dev/hwrng',
      PHM_DEVICE_MIN_ENTROPY: '0.5',
      PHM_IBM_API_KEY: 'k',
      PHM_IBM_SERVICE_CRN: 'crn:v1:x',
      PHM_IBM_BACKEND: 'ibm_x',
      PHM_QRNG_PROFILE: 'open-api',
      PHM_QRNG_URL: 'https://qrng.example/api',
    });
    assert.deepEqual(config.sourceSettings, {
      jitterCredit: false,
      remoteCredit: false,
      device: { path: '/dev/hwrng', minEntropyPerByte: 0.5 },
      ibmQuantum: {
        apiKey: { text: 'k' },
        serviceCrn: 'crn:v1:x',
        backend: 'ibm_x',
        shots: 4096,
      },
      qrng: { profile: 'open-api', url: 'https://qrng.example/api', apiKey: null },
    });
    assert.deepEqual(config.entropyMix, ['qrng']);
  });

  it('refuses invalid source settings without quoting a credential', () => {
    const secret = 'not-to-be-shown';
    const cases: [Record<string, string>, RegExp][] = [
      [{ PHM_ENTROPY_MIX: 'dice' }, /PHM_ENTROPY_MIX contains "dice"/],
      [{ PHM_JITTER_CREDIT: 'yes' }, /PHM_JITTER_CREDIT is "yes": use one of on, off/],
      [{ PHM_JITTER_CREDIT: 'auto' }, /use one of on, off/],
      [{ PHM_DEVICE_PATH: '/dev/x' }, /PHM_DEVICE_MIN_ENTROPY is missing: set/],
      [{ PHM_DEVICE_PATH: '/dev/x', PHM_DEVICE_MIN_ENTROPY: '8.1' }, /0\.125 to 8/],
      [{ PHM_DEVICE_PATH: '/dev/x', PHM_DEVICE_MIN_ENTROPY: '0' }, /0\.125 to 8/],
      [{ PHM_IBM_API_KEY: secret }, /PHM_IBM_SERVICE_CRN and PHM_IBM_BACKEND go together/],
      [{ PHM_IBM_API_KEY: secret, PHM_IBM_API_KEY_FILE: '/k' }, /both set: keep one/],
      [{ PHM_IBM_SHOTS: '1001' }, /use an even number/],
      [{ PHM_IBM_SHOTS: '10' }, /from 256 to 100000/],
      [{ PHM_IBM_API_VERSION: 'newest' }, /write it in the form 2026-04-15/],
      [{ PHM_IBM_URL: 'http://quantum.example' }, /PHM_IBM_URL is not a usable address/],
      [{ PHM_IBM_URL: `https://user:${secret}@host` }, /PHM_IBM_URL is not a usable address/],
      [{ PHM_QRNG_PROFILE: 'dice' }, /use one of open-api, anu, outshift/],
      [{ PHM_QRNG_PROFILE: 'open-api' }, /PHM_QRNG_URL is missing/],
      [{ PHM_QRNG_PROFILE: 'anu' }, /PHM_QRNG_API_KEY .* is missing/],
      [{ PHM_QRNG_API_KEY: secret }, /PHM_QRNG_PROFILE is missing/],
      [
        { PHM_QRNG_PROFILE: 'outshift', PHM_QRNG_URL: 'nonsense' },
        /PHM_QRNG_URL is not a usable address/,
      ],
    ];
    for (const [env, message] of cases) {
      const text = problems(env);
      assert.match(text, message);
      assert.ok(!text.includes(secret));
    }
  });

  it('accepts http for services on this machine', () => {
    const config = accept({ PHM_QRNG_PROFILE: 'open-api', PHM_QRNG_URL: 'http://127.0.0.1:9/x' });
    assert.equal(config.sourceSettings.qrng?.url, 'http://127.0.0.1:9/x');
  });
});
