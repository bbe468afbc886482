/** What browsers and proxies need to know: the base path and the origins of other web pages. */
import { printable, type Reader } from './reader.ts';

/** Segments that every proxy, client and browser passes on as they are. */
const BASE_PATH = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/;

/** Addresses at the root that stay the probes'. */
const PROBES: readonly string[] = ['/livez', '/readyz', '/health'];

/** The path that everything is served beneath, such as `/phm`; empty for the root. */
export function readBasePath(reader: Reader): string {
  const text = reader.text('PHM_BASE_PATH');
  if (text === '') return '';
  if (PROBES.includes(text)) {
    reader.problems.push(`PHM_BASE_PATH is ${text}, the address of a probe: use another path`);
  } else if (!BASE_PATH.test(text)) {
    reader.problems.push(
      `PHM_BASE_PATH is "${printable(text)}": write it as /phm or /security/phm, of letters, digits, ` +
        '".", "_", "~" and "-", without a slash at its end; leave it unset to serve at the root',
    );
  }
  return text;
}

/** Origins whose pages may call the API from a browser; empty: none but the server's own. */
export function readCorsOrigins(reader: Reader): string[] {
  const entries = reader.text('PHM_CORS_ORIGINS').split(',');
  const origins = entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
  for (const origin of origins) {
    const problem = originProblem(origin);
    if (problem) {
      reader.problems.push(`PHM_CORS_ORIGINS names "${printable(origin)}": ${problem}`);
    }
  }
  return [...new Set(origins)];
}

/** What is wrong with an origin. It is compared with what browsers send, so it must be written alike. */
function originProblem(text: string): string | undefined {
  if (text.includes('*')) {
    return 'any page could then use an API key that it got hold of; name each origin, such as https://app.example';
  }
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    return 'use origins such as https://app.example or http://localhost:5173, separated by commas';
  }
  return url.origin === text ? undefined : `write it as browsers send it: ${url.origin}`;
}
