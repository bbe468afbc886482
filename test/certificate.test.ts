/** A chain expires with the first of its certificates. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { notAfterMs, readCertificate } from '../src/config/certificate.ts';
import { SetupError } from '../src/errors.ts';
import { makeCertificate } from './support/servers/certificate.ts';

const folder = mkdtempSync(join(tmpdir(), 'phm-certificate-'));
after(() => rmSync(folder, { recursive: true }));

const DAY_MS = 86_400_000;
const EARLY_MS = Math.floor(Date.now() / 1000) * 1000 + DAY_MS;
const LATE_MS = EARLY_MS + DAY_MS;

/** Returns the files of a certificate. */
function certificate(name: string, endMs: number) {
  const certFile = join(folder, `${name}.pem`);
  const keyFile = join(folder, `${name}.key`);
  makeCertificate(certFile, keyFile, endMs);
  return { certFile, keyFile };
}

const early = certificate('early', EARLY_MS);
const late = certificate('late', LATE_MS);

describe('the end of a certificate', () => {
  const pem = (files: { readonly certFile: string }) => readFileSync(files.certFile, 'utf8');

  it('is its notAfter', () => {
    assert.equal(notAfterMs(readCertificate(early).cert), EARLY_MS);
    assert.equal(notAfterMs(pem(late)), LATE_MS);
  });

  it('is the earliest of its chain, under every label', () => {
    assert.equal(notAfterMs(pem(late) + pem(early)), EARLY_MS);
    assert.equal(notAfterMs(pem(early) + pem(late)), EARLY_MS);
    assert.equal(
      notAfterMs(pem(late) + pem(early).replaceAll('CERTIFICATE', 'X509 CERTIFICATE')),
      EARLY_MS,
    );
  });

  it('does not keep an expired certificate from being read', () => {
    const expired = certificate('expired', Date.now() - 1000);
    assert.ok(notAfterMs(readCertificate(expired).cert) < Date.now());
  });
});

describe('a certificate and its key', () => {
  it('are refused if they are of two pairs, or cannot be read', () => {
    assert.throws(
      () => readCertificate({ ...early, keyFile: late.keyFile }),
      (error) =>
        error instanceof SetupError && /PHM_TLS_CERT_FILE and PHM_TLS_KEY/.test(error.message),
    );
    assert.throws(
      () => readCertificate({ ...early, keyFile: join(folder, 'none') }),
      /PHM_TLS_KEY_FILE/,
    );
  });
});
