/** What the server says when it listens: the first page of the documentation. */
import { PROJECT_VERSION } from './version.ts';

export interface Announcement {
  readonly address: string;
  readonly json: boolean;
  /** The page for Prometheus, or null. */
  readonly metricsAddress: string | null;
  /** A demo API key that this server admits, or null. */
  readonly demoApiKey: string | null;
}

/** Writes the banner to stderr; with `json`, one line of data to stdout as well. */
export function announce(announcement: Announcement): void {
  process.stderr.write(bannerText(announcement));
  if (announcement.json) {
    const { address, demoApiKey, metricsAddress } = announcement;
    const start = {
      address,
      demo_api_key: demoApiKey,
      metrics_address: metricsAddress,
      pid: process.pid,
    };
    process.stdout.write(`${JSON.stringify(start)}\n`);
  }
}

/** The banner; its curl line works when pasted. */
export function bannerText({ address, demoApiKey, metricsAddress }: Announcement): string {
  const key = demoApiKey ?? '<API_KEY>';
  const about = demoApiKey
    ? `Demo API key (public; Research plan, 1,000 requests a month):\n    ${demoApiKey}`
    : 'Make an account and an API key first:\n' +
      '    npm run -s phm -- account create --name "My team" --plan research\n' +
      '    npm run -s phm -- key issue --account <account_id>';
  const metrics = metricsAddress ? `     Metrics: ${metricsAddress}` : '';
  return `
PHM key service ${PROJECT_VERSION} listens on ${address}

  ${about}

  A 256-bit key with its 15 statistical tests:
    curl -s ${address}/api/v2/generate \\
      -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' \\
      -d '{"security_level": 256, "enable_nist_validation": true}'

  Documentation: ${address}/docs${metrics}     Stop: Ctrl-C

`;
}
