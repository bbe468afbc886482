/** The route of the address, which links and the back button change. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { parseHash, type Route } from './route.ts';

/** Returns the hash of the view that a plain click opens, or undefined. */
function linkedHash(event: MouseEvent): string | undefined {
  const { altKey, button, ctrlKey, metaKey, shiftKey } = event;
  const isPlain = button === 0 && !(altKey || ctrlKey || metaKey || shiftKey);
  if (event.defaultPrevented || !isPlain || !(event.target instanceof Element)) return undefined;
  return event.target.closest<HTMLAnchorElement>('a[href^="#/"]')?.hash;
}

/** Opens a hash, as a link does. */
export function openHash(hash: string): void {
  if (hash === location.hash) return;
  history.pushState(null, '', hash);
  dispatchEvent(new PopStateEvent('popstate'));
}

/**
 * Returns the route of the address. A link changes the view within its own click, because `hashchange` comes in a
 * later task: keystrokes before it would reach the old view.
 */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseHash(location.hash));
  useLayoutEffect(() => {
    const follow = () => setRoute(parseHash(location.hash));
    const followLink = (event: MouseEvent) => {
      const hash = linkedHash(event);
      if (hash === undefined) return;
      event.preventDefault();
      openHash(hash);
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
