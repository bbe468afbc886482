/**
 * Hash routes such as `#/generate`, `#/keys?status=active` and `#/keys/phm_1`. They work under any base path and never
 * reach the server.
 */
export const ROUTES = [
  { path: 'generate', label: 'Generate' },
  { path: 'keys', label: 'Keys' },
  { path: 'validate', label: 'Validate' },
  { path: 'receipts', label: 'Receipts' },
  { path: 'usage', label: 'Usage' },
  { path: 'evidence', label: 'Evidence' },
  { path: 'status', label: 'Status' },
] as const;

export type RoutePath = (typeof ROUTES)[number]['path'];

export interface Route {
  readonly path: RoutePath;
  /** What follows the path's slash: the ID of a key, or empty. */
  readonly item: string;
  /** What follows the question mark, or empty. */
  readonly search: string;
}

/** Returns the route of a hash. One without a known path is `generate`. */
export function parseHash(hash: string): Route {
  const [, name = '', item = '', search = ''] =
    /^#?\/?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/.exec(hash) ?? [];
  const known = ROUTES.find(({ path }) => path === name);
  return known ? { path: known.path, item, search } : { path: 'generate', item: '', search: '' };
}
