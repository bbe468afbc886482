/** Hash routes: `#/generate` and so on work beneath any base path, and the server never sees them. */
import { useLayoutEffect, useState } from 'preact/hooks';

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

/** The view that a plain click on a link leads to, if the link names one. */
function linkedHash(event: MouseEvent): string | undefined {
  const { altKey, button, ctrlKey, metaKey, shiftKey } = event;
  const isPlain = button === 0 && !(altKey || ctrlKey || metaKey || shiftKey);
  if (event.defaultPrevented || !isPlain || !(event.target instanceof Element)) return undefined;
  return event.target.closest<HTMLAnchorElement>('a[href^="#/"]')?.hash;
}

/**
 * The route of the address. A link changes the view within its own click: `hashchange` comes as a task
 * of its own, and keys pressed before it would reach the old view.
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
