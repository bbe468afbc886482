/** Starts what a page of the documentation can do beyond being read: menu, theme, search, requests. */
import { render } from 'preact';
import { markPlace, startMenu, startTheme } from './frame.ts';
import { SearchBox } from './search-box.tsx';
import { findServer } from './server.ts';

/** Address of the documentation's root. */
const root = new URL(document.documentElement.dataset.root ?? './', document.baseURI);

startMenu();
startTheme();
markPlace();
const search = document.getElementById('search');
if (search) render(<SearchBox root={root} />, search);
const session = document.getElementById('session');
const server = findServer(root);
void server.then((found) => {
  const dashboard = document.querySelector<HTMLElement>('a.dashboard');
  if (dashboard) dashboard.hidden = found === null;
});
if (session) {
  void import('./reference.tsx').then(({ startReference }) =>
    startReference(root, server, session),
  );
}
