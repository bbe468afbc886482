/** Reads the base path and the origins of other web pages. */
import { printable, type Reader } from './reader.ts';

/** Segments that every proxy, client and browser leaves unchanged. */
const BASE_PATH = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/;

/** Probes, which also answer at the root. */
const PROBES: readonly string[] = ['/livez', '/readyz', '/health'];

/** Reads the path in front of every address, such as `/phm`; empty for the root. */
export function readBasePath(reader: Reader): string {
  const text = reader.text('PHM_BASE_PATH');
  if (text === '') return '';
  if (PROBES.includes(text)) {
    reader.problems.push(`PHM_BASE_PATH is ${text}, the address of a probe: use another path`);
  } else if (!BASE_PATH.test(text)) {
    reader.problems.push(
      `PHM_BASE_PATH is "${printable(text)}": write a path such as /phm or /security/phm, with letters, digits, ` +
        '".", "_", "~" and "-" and without a final slash; unset it to serve at the root',
    );
  }
  return text;
}

/** Reads the origins whose pages may call the API from a browser; empty for the server's own pages only. */
export function readCorsOrigins(reader: Reader): string[] {
  const entries = reader.text('PHM_CORS_ORIGINS').split(',');
  const origins = entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
  for (const origin of origins) {
    const problem = originProblem(origin);
    if (problem) {
      reader.problems.push(`PHM_CORS_ORIGINS contains "${printable(origin)}": ${problem}`);
    }
  }
  return [...new Set(origins)];
}

/** Returns the problem of an origin, if any. It must have the form that browsers send, with which it is compared. */
function originProblem(text: string): string | undefined {
  if (text.includes('*')) {
    return 'any page could then use an API key that it obtained; list each origin, such as https://app.example';
  }
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    return 'use origins such as https://app.example or http://localhost:5173, separated by commas';
  }
  return url.origin === text ? undefined : `write it as browsers send it: ${url.origin}`;
}
