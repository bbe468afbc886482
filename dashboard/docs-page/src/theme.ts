/** Sets the theme that the reader chose, before the page is painted. Only this name is kept, for the life of the tab. */
export const THEME_KEY = 'phm-docs-theme';

const chosen = readTheme();
if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;

/** A browser may forbid storage. */
function readTheme(): string | null {
  try {
    return sessionStorage.getItem(THEME_KEY);
  } catch {
    return null;
  }
}
