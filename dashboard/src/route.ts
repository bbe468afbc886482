/**
 * Hash routes such as `#/generate`, `#/keys?status=active` and `#/keys/phm_1`. They work under any base path and never
 * reach the server.
 */
export const ROUTES = [
  { path: 'overview', label: 'Overview' },
  { path: 'generate', label: 'Generate' },
  { path: 'keys', label: 'Keys' },
  { path: 'validate', label: 'Validate' },
  { path: 'receipts', label: 'Receipts' },
  { path: 'usage', label: 'Usage' },
  { path: 'evidence', label: 'Evidence' },
  { path: 'status', label: 'Status' },
] as const;

type RoutePath = (typeof ROUTES)[number]['path'];

export interface Route {
  /** `unknown`: the address names no view. */
  readonly path: RoutePath | 'unknown';
  /** What follows the path's slash: the ID of a key, or empty. */
  readonly item: string;
  /** What follows the question mark, or empty. */
  readonly search: string;
}

/** Returns the route of a hash. One without a path is `overview`; one without a known path is `unknown`. */
export function parseHash(hash: string): Route {
  const [, name = '', item = '', search = ''] =
    /^#?\/?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(hash) ?? [];
  const known = ROUTES.find(({ path }) => path === name);
  if (known) return { path: known.path, item, search };
  return { path: name === '' ? 'overview' : 'unknown', item: '', search: '' };
}
