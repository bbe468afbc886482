/** Hash routes such as `#/generate`. They work under any base path and never reach the server. */
import { useLayoutEffect, useState } from 'preact/hooks';

export const ROUTES = [
  { path: 'generate', label: 'Generate' },
  { path: 'validate', label: 'Validate' },
  { path: 'receipts', label: 'Receipts' },
  { path: 'usage', label: 'Usage' },
  { path: 'evidence', label: 'Evidence' },
  { path: 'status', label: 'Status' },
] as const;

export type RoutePath = (typeof ROUTES)[number]['path'];

/** Returns the route of the address, or `generate` if it has none. */
function currentRoute(): RoutePath {
  const name = location.hash.replace(/^#\/?/, '');
  return ROUTES.find(({ path }) => path === name)?.path ?? 'generate';
}

/** Returns the hash of the view that a plain click opens, or undefined. */
function linkedHash(event: MouseEvent): string | undefined {
  const { altKey, button, ctrlKey, metaKey, shiftKey } = event;
  const isPlain = button === 0 && !(altKey || ctrlKey || metaKey || shiftKey);
  if (event.defaultPrevented || !isPlain || !(event.target instanceof Element)) return undefined;
  return event.target.closest<HTMLAnchorElement>('a[href^="#/"]')?.hash;
}

/**
 * Returns the route of the address. A link changes the view within its own click, because `hashchange` comes in a
 * later task: keystrokes before it would reach the old view.
 */
export function useRoute(): RoutePath {
  const [route, setRoute] = useState(currentRoute);
  useLayoutEffect(() => {
    const follow = () => setRoute(currentRoute());
    const followLink = (event: MouseEvent) => {
      const hash = linkedHash(event);
      if (hash === undefined || hash === location.hash) return;
      event.preventDefault();
      history.pushState(null, '', hash);
      follow();
    };
    document.addEventListener('click', followLink);
    addEventListener('popstate', follow);
    addEventListener('hashchange', follow);
    return () => {
      document.removeEventListener('click', followLink);
      removeEventListener('popstate', follow);
      removeEventListener('hashchange', follow);
    };
  }, []);
  return route;
}
