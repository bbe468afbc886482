/** Checks the certificate of the listener: its key, times, names and the order of the chain. */
import type { X509Certificate } from 'node:crypto';
import { DAY_MS, formatTimestamp } from '../../clock.ts';
import { certificatesIn, readCertificate } from '../../config/certificate.ts';
import { type Finding, failed, ok, Skipped, warning } from './finding.ts';
import type { Site } from './site.ts';

/** Time in which to renew a certificate. */
const SOON_MS = 14 * DAY_MS;

const RENEW =
  'renew the files of PHM_TLS_CERT_FILE and PHM_TLS_KEY_FILE, run this again, then restart the server: ' +
  'docs/incidents.md#renew-the-certificate';

export function checkCertificate({ config }: Site): Finding[] {
  if (config.tls === null) throw new Skipped('no certificate is set: the listener speaks HTTP');
  const chain = certificatesIn(readCertificate(config.tls).cert);
  const found = [...chain.flatMap(checkTimes), ...checkNames(chain), ...checkOrder(chain)];
  return found.length > 0 ? found : [ok(describeChain(chain))];
}

function checkTimes({ subject, validFromDate, validToDate }: X509Certificate): Finding[] {
  const name = subject ? ` (${subject.replaceAll('\n', ', ')})` : '';
  const [startMs, endMs, nowMs] = [validFromDate.getTime(), validToDate.getTime(), Date.now()];
  if (startMs > nowMs) {
    const found = `the certificate${name} is valid only from ${formatTimestamp(startMs)}`;
    return [failed(found, 'check the clock of this machine, or use another certificate')];
  }
  const end = formatTimestamp(endMs);
  if (endMs <= nowMs) return [failed(`the certificate${name} expired at ${end}`, RENEW)];
  if (endMs - nowMs < SOON_MS) return [warning(`the certificate${name} expires at ${end}`, RENEW)];
  return [];
}

/** Clients compare the host name with these names alone. */
function checkNames([leaf]: readonly X509Certificate[]): Finding[] {
  if (leaf?.subjectAltName) return [];
  return [
    failed(
      'the certificate has no subjectAltName, so clients refuse it',
      'get one with the names of the service',
    ),
  ];
}

function checkOrder(chain: readonly X509Certificate[]): Finding[] {
  const isOrdered = chain.every((one, i) => {
    const issuer = chain[i + 1];
    return issuer === undefined || one.checkIssued(issuer);
  });
  if (isOrdered) return [];
  return [
    warning(
      'the certificates in PHM_TLS_CERT_FILE are not in order, so some clients refuse the chain',
      'put the certificate of the server first, and each issuer after what it signed',
    ),
  ];
}

function describeChain(chain: readonly X509Certificate[]): string {
  const endMs = Math.min(...chain.map(({ validToDate }) => validToDate.getTime()));
  return `for ${chain[0]?.subjectAltName}, valid until ${formatTimestamp(endMs)}`;
}
