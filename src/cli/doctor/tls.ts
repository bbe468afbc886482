/** Says what the listener accepts: the profile, and what it makes of the certificate. */
import { loadTls } from '../../config/tls.ts';
import { type Finding, ok, Skipped } from './finding.ts';
import type { Site } from './site.ts';

export function checkTls({ config }: Site): Finding[] {
  if (config.tls === null) {
    throw new Skipped('no certificate is set: if a proxy ends TLS, its profile counts');
  }
  const { ciphers, ecdhCurve, sigalgs } = loadTls(config.tls);
  return [ok(`profile ${config.tls.profile}: ${ciphers}, ${ecdhCurve}, ${sigalgs}`)];
}
