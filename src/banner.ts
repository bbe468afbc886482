/** What the server says when it listens: the first page of the documentation. */
import { PROJECT_VERSION } from './version.ts';

export interface Announcement {
  readonly address: string;
  readonly json: boolean;
  /** A demo API key that this server admits, or null. */
  readonly demoApiKey: string | null;
}

/** Writes the banner to stderr; with `json`, one line of data to stdout as well. */
export function announce(announcement: Announcement): void {
  process.stderr.write(bannerText(announcement));
  if (announcement.json) {
    const { address, demoApiKey } = announcement;
    process.stdout.write(
      `${JSON.stringify({ address, demo_api_key: demoApiKey, pid: process.pid })}\n`,
    );
  }
}

/** The banner; its curl line works when pasted. */
export function bannerText({ address, demoApiKey }: Announcement): string {
  const key = demoApiKey ?? '<API_KEY>';
  const about = demoApiKey
    ? `Demo API key (public; Research plan, 1,000 requests a month):\n    ${demoApiKey}`
    : 'Make an account and an API key first:\n' +
      '    npm run -s phm -- account create --name "My team" --plan research\n' +
      '    npm run -s phm -- key issue --account <account_id>';
  return `
PHM key service ${PROJECT_VERSION} listens on ${address}

  ${about}

  A 256-bit key with its 15 statistical tests:
    curl -s ${address}/api/v2/generate \\
      -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' \\
      -d '{"security_level": 256, "enable_nist_validation": true}'

  Documentation: ${address}/docs     Stop: Ctrl-C

`;
}
