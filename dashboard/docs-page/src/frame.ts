/** The parts around the content: the menu on small screens, the theme, and the reader's place in the contents. */
import { THEME_KEY } from './theme.ts';

/** Opens and closes the sidebar where it does not stand beside the content. */
export function startMenu(): void {
  const button = document.querySelector<HTMLButtonElement>('button.menu');
  if (!button) return;
  button.hidden = false;
  const setOpen = (isOpen: boolean) => {
    button.setAttribute('aria-expanded', String(isOpen));
    document.documentElement.toggleAttribute('data-menu', isOpen);
  };
  button.addEventListener('click', () => {
    setOpen(button.getAttribute('aria-expanded') !== 'true');
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || button.getAttribute('aria-expanded') !== 'true') return;
    setOpen(false);
    button.focus();
  });
  document.getElementById('navigation')?.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a')) setOpen(false);
  });
}

/** Offers the other theme. The choice lasts as long as the tab. */
export function startTheme(): void {
  const button = document.querySelector<HTMLButtonElement>('button.theme');
  if (!button) return;
  const systemDark = matchMedia('(prefers-color-scheme: dark)');
  const { dataset } = document.documentElement;
  const other = () => {
    const current = dataset.theme ?? (systemDark.matches ? 'dark' : 'light');
    return current === 'dark' ? 'light' : 'dark';
  };
  const name = () => {
    const word = document.createElement('span');
    word.textContent = ' theme';
    button.replaceChildren(other() === 'dark' ? 'Dark' : 'Light', word);
  };
  button.addEventListener('click', () => {
    dataset.theme = other();
    try {
      sessionStorage.setItem(THEME_KEY, dataset.theme);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    name();
  });
  systemDark.addEventListener('change', name);
  name();
  button.hidden = false;
}

/** Marks the heading that is being read in the contents of the page and the sidebar. */
export function markPlace(): void {
  const links = new Map<string, HTMLAnchorElement[]>();
  for (const link of document.querySelectorAll<HTMLAnchorElement>(
    '.contents a, .navigation li li a',
  )) {
    const id = decodeURIComponent(link.hash.slice(1));
    links.set(id, [...(links.get(id) ?? []), link]);
  }
  if (links.size === 0) return;
  const headings = [...links.keys()].flatMap((id) => document.getElementById(id) ?? []);
  let marked: HTMLAnchorElement[] = [];
  const mark = () => {
    const passed = headings.findLast((heading) => heading.getBoundingClientRect().top < 140);
    const now = links.get(passed?.id ?? '') ?? [];
    if (now[0] === marked[0]) return;
    for (const link of marked) link.removeAttribute('aria-current');
    for (const link of now) link.setAttribute('aria-current', 'location');
    marked = now;
  };
  let isWaiting = false;
  addEventListener(
    'scroll',
    () => {
      if (isWaiting) return;
      isWaiting = true;
      requestAnimationFrame(() => {
        isWaiting = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
  document
    .querySelector('.navigation a[aria-current="page"]')
    ?.scrollIntoView({ block: 'nearest' });
}
