/** The commands, and the health check of the image, reach a server under the strictest TLS profile, and show the profile. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../../support/run/free-port.ts';
import { makeCertificate } from '../../support/servers/certificate.ts';
import {
  DEMO_KEY,
  makeDataDir,
  removeDataDir,
  runPhm,
  Server,
} from '../../support/servers/server.ts';
import { ROOT } from '../../support/texts/imports.ts';

describe('a server with the profile cnsa-2', () => {
  const dataDir = makeDataDir();
  const folder = makeDataDir();
  const certFile = join(folder, 'cert.pem');
  const keyFile = join(folder, 'key.pem');
  let server: Server;
  let tls: Record<string, string>;
  before(async () => {
    makeCertificate(certFile, keyFile, undefined, 'both', 'ML-DSA-87');
    tls = {
      PHM_PORT: String(await freePort()),
      PHM_TLS_PROFILE: 'cnsa-2',
      PHM_TLS_CERT_FILE: certFile,
      PHM_TLS_KEY_FILE: keyFile,
    };
    server = await Server.start(dataDir, tls);
  });
  after(async () => {
    await server.stop();
    removeDataDir(dataDir);
    removeDataDir(folder);
  });

  it('is reached by client commands and those that read its log', async () => {
    const env = { PHM_API_KEY: DEMO_KEY, NODE_EXTRA_CA_CERTS: certFile };
    const metrics = await runPhm(['metrics', '--url', server.address], dataDir, env);
    assert.equal(metrics.code, 0, metrics.stderr);
    const state = ['--state', join(folder, 'checkpoint')];
    const log = await runPhm(['log', 'check', `${server.address}/log`, ...state], folder, env);
    assert.equal(log.code, 0, log.stderr);
  });

  it('is found ready by phm doctor, which shows the profile', async () => {
    const { stdout } = await runPhm(['doctor', '--json'], dataDir, tls);
    const { checks } = JSON.parse(stdout) as {
      checks: { name: string; status: string; detail: string }[];
    };
    const found = (name: string) => {
      const check = checks.find((one) => one.name === name);
      return `${check?.status}: ${check?.detail}`;
    };
    assert.equal(found('TLS'), 'ok: profile cnsa-2: TLS_AES_256_GCM_SHA384, MLKEM1024, mldsa87');
    assert.match(found('server'), /^ok: .* is ready/);
  });

  it('is alive for the health check of the image', () => {
    const script = join(ROOT, 'deploy/docker/healthcheck.mjs');
    const { status } = spawnSync(process.execPath, [script], { env: { ...process.env, ...tls } });
    assert.equal(status, 0);
  });

  it('does not start with a certificate of another algorithm, and says what to do', async () => {
    const [cert, key] = [join(folder, 'p384.pem'), join(folder, 'p384.key')];
    makeCertificate(cert, key, undefined, 'both', 'P-384');
    const other = makeDataDir();
    const wrong = { ...tls, PHM_PORT: '0', PHM_TLS_CERT_FILE: cert, PHM_TLS_KEY_FILE: key };
    const { code, stderr } = await runPhm(['serve'], other, wrong);
    removeDataDir(other);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /PHM_TLS_PROFILE is cnsa-2, .* ec secp384r1: get a certificate with ML-DSA-87, or set another profile/,
    );
  });
});
