/** Light or dark: the system's choice until the reader makes one, which lasts as long as the page. */
import { useEffect, useState } from 'preact/hooks';

type Theme = 'light' | 'dark';

const systemDark = matchMedia('(prefers-color-scheme: dark)');

/** Called when colours change; drawings on a canvas must then be made again. */
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
