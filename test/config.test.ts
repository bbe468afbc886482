import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Config, readConfig } from '../src/config.ts';

const CONTEXT = { cores: 4, knownSources: ['os', 'quantum-simulator'] };

function accept(env: Record<string, string>): Config {
  const result = readConfig(env, CONTEXT);
  assert.ok(result.ok, result.ok ? '' : result.problems.join('; '));
  return result.config;
}

function problems(env: Record<string, string>): string {
  const result = readConfig(env, CONTEXT);
  return result.ok ? '' : result.problems.join('\n');
}

describe('configuration', () => {
  it('has the documented defaults', () => {
    const config = accept({});
    assert.equal(config.host, '127.0.0.1');
    assert.equal(config.port, 8080);
    assert.match(config.dataDir, /\/data$/);
    assert.equal(config.databaseUrl, null);
    assert.deepEqual(config.entropySources, ['os', 'quantum-simulator']);
    assert.equal(config.suiteWorkers, 3);
    assert.equal(config.rateLimits, true);
    assert.equal(config.demoKeys, 'auto');
    assert.equal(config.masterSecret.kind, 'managed');
  });

  it('names the variable and the fix for everything wrong at once', () => {
    const text = problems({
      PHM_PORT: '80a',
      PHM_DEMO_KEYS: 'yes',
      PHM_WORKERS: '0',
      PHM_ENTROPY_SOURCE: 'dice',
      PHM_ENTROPY_SOURCES: 'os,dice',
      PHM_LOG_LEVEL: 'loud',
      PHM_RATE_LIMITS: 'maybe',
    });
    assert.match(text, /PHM_PORT is "80a": use a whole number from 0 to 65535/);
    assert.match(text, /PHM_DEMO_KEYS is "yes": use one of auto, on, off/);
    assert.match(text, /PHM_WORKERS is "0": use a whole number from 1 to 64/);
    assert.match(text, /PHM_ENTROPY_SOURCE is "dice": use one of os, quantum-simulator/);
    assert.match(text, /PHM_ENTROPY_SOURCES names "dice"/);
    assert.match(text, /PHM_LOG_LEVEL is "loud"/);
    assert.match(text, /PHM_RATE_LIMITS is "maybe": use one of on, off/);
  });

  it('listens beyond loopback only with a certificate or an explicit flag', () => {
    assert.match(problems({ PHM_HOST: '0.0.0.0' }), /PHM_ALLOW_CLEARTEXT=on/);
    assert.equal(accept({ PHM_HOST: '0.0.0.0', PHM_ALLOW_CLEARTEXT: 'on' }).host, '0.0.0.0');
    const tls = { PHM_TLS_CERT_FILE: 'c.pem', PHM_TLS_KEY_FILE: 'k.pem' };
    assert.ok(accept({ PHM_HOST: '0.0.0.0', ...tls }).tls);
    for (const host of ['::1', 'localhost', '127.0.0.53'])
      assert.equal(accept({ PHM_HOST: host }).host, host);
    assert.match(problems({ PHM_HOST: '127.0.0.1.example.com' }), /other machines can reach/);
  });

  it('wants certificate and key together', () => {
    assert.match(problems({ PHM_TLS_CERT_FILE: 'c.pem' }), /PHM_TLS_KEY_FILE is missing/);
    assert.match(problems({ PHM_TLS_KEY_FILE: 'k.pem' }), /PHM_TLS_CERT_FILE is missing/);
  });

  it('wants one origin of the master secret and never repeats it', () => {
    const secret = 'ab'.repeat(32);
    assert.equal(accept({ PHM_MASTER_KEY: secret }).masterSecret.kind, 'environment');
    const text = problems({ PHM_MASTER_KEY: secret, PHM_MASTER_KEY_FILE: '/k' });
    assert.match(text, /both set/);
    assert.ok(!text.includes(secret));
  });

  it('says that PostgreSQL is not there yet instead of ignoring the variable', () => {
    assert.match(problems({ PHM_DATABASE_URL: 'postgres://x' }), /PHM_DATABASE_URL .* unset it/);
  });

  it('warns of a misspelt variable', () => {
    const result = readConfig({ PHM_PROT: '1', HOME: '/' }, CONTEXT);
    assert.ok(result.ok);
    assert.equal(result.warnings.length, 1);
    assert.match(result.warnings[0] ?? '', /PHM_PROT is not a variable/);
  });
});
