/** Hash routes: `#/generate` and so on work beneath any base path, and the server never sees them. */
import { useEffect, useState } from 'preact/hooks';

export const ROUTES = [
  { path: 'generate', label: 'Generate' },
  { path: 'validate', label: 'Validate' },
  { path: 'usage', label: 'Usage' },
  { path: 'evidence', label: 'Evidence' },
  { path: 'status', label: 'Status' },
] as const;

export type RoutePath = (typeof ROUTES)[number]['path'];

/** The route that the address names; the first one when it names none. */
function currentRoute(): RoutePath {
  const name = location.hash.replace(/^#\/?/, '');
  return ROUTES.find(({ path }) => path === name)?.path ?? 'generate';
}

export function useRoute(): RoutePath {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const follow = () => setRoute(currentRoute());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}
