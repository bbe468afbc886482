/** Light or dark theme: the system's, until the reader chooses one for the life of the page. */
import { useEffect, useState } from 'preact/hooks';

type Theme = 'light' | 'dark';

const systemDark = matchMedia('(prefers-color-scheme: dark)');

/** Called when the colours change, because a canvas must then be redrawn. */
type Listener = () => void;
const listeners = new Set<Listener>();

let chosen: Theme | undefined;

function current(): Theme {
  return chosen ?? (systemDark.matches ? 'dark' : 'light');
}

function announce(): void {
  for (const listener of listeners) listener();
}

systemDark.addEventListener('change', announce);

function choose(theme: Theme): void {
  chosen = theme;
  document.documentElement.dataset.theme = theme;
  announce();
}

export function useTheme(): Theme {
  const [theme, setTheme] = useState(current);
  useEffect(() => {
    const follow = () => setTheme(current());
    listeners.add(follow);
    return () => {
      listeners.delete(follow);
    };
  }, []);
  return theme;
}

export function ThemeToggle() {
  const other = useTheme() === 'dark' ? 'light' : 'dark';
  return (
    <button type="button" class="quiet theme" onClick={() => choose(other)}>
      {other === 'dark' ? 'Dark theme' : 'Light theme'}
    </button>
  );
}
