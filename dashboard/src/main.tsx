import { render } from 'preact';
import { App } from './app.tsx';
import './styles/palette.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/controls.css';
import './styles/figures.css';
import './styles/views.css';
import './styles/keys.css';
import './styles/generate.css';
import './styles/overview.css';

const root = document.getElementById('app');
if (!root) throw new Error('index.html has no #app');

const show = () => render(<App />, root);
show();

// Browsers may cache a page that the reader left. The cached page must not hold keys.
addEventListener('pagehide', () => render(null, root));
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) show();
});
