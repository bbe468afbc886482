/** The frame of the page: brand, navigation, API key, server state and the current view. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CustodyProvider } from './generate/custody.tsx';
import { Explanation } from './generate/explanation.tsx';
import { GenerateView } from './generate/view.tsx';
import { HealthLink, HealthProvider, ServerLight } from './health.tsx';
import { HeaderNotes, KeyBar, KeyEntry } from './key-entry.tsx';
import { KeysView } from './keys/view.tsx';
import { OverviewView } from './overview/view.tsx';
import { EvidenceView } from './randomness/view.tsx';
import { ReceiptsView } from './receipts/view.tsx';
import { ROUTES, type Route } from './route.ts';
import { SessionProvider, useSession } from './session.tsx';
import { StatusView } from './status.tsx';
import { ThemeToggle } from './theme.tsx';
import { UsageView } from './usage/view.tsx';
import { useRoute } from './use-route.ts';
import { ValidateView } from './validate.tsx';

interface ViewText {
  readonly title: string;
  readonly lead: string;
}

const TEXTS: Readonly<Record<Route['path'], ViewText>> = {
  overview: {
    title: 'Overview',
    lead: 'The account at a glance: quota, keys, latency, errors.',
  },
  generate: {
    title: 'Generate a key',
    lead: 'Generate a symmetric key after a reseed from the operating system. Optional tests judge the generator’s output.',
  },
  keys: {
    title: 'Keys',
    lead: 'The keys that this account generated, and their state. The service stores records of keys, never the keys.',
  },
  validate: {
    title: 'Validate a key',
    lead: 'Check whether this service generated a key, by its proof or by its record in the ledger.',
  },
  receipts: {
    title: 'Verify a receipt',
    lead: 'Check what this or another PHM key service recorded about a key, and when. You need no API key.',
  },
  usage: {
    title: 'Usage',
    lead: 'The monthly quota, and the keys of this account over time.',
  },
  evidence: {
    title: 'Evidence over many keys',
    lead: 'One key’s tests say little about its generator. SP 800-22 §4.2 judges the p-values of many keys together.',
  },
  status: {
    title: 'Status',
    lead: 'The state of this server, check by check.',
  },
  unknown: {
    title: 'No such view',
    lead: 'The address names a view that this page does not have.',
  },
};

/** Views that call nothing with an API key. */
const WITHOUT_API_KEY: readonly Route['path'][] = ['receipts', 'status', 'unknown'];

export function App() {
  return (
    <HealthProvider>
      <SessionProvider>
        <CustodyProvider>
          <Shell />
        </CustodyProvider>
      </SessionProvider>
    </HealthProvider>
  );
}

function Shell() {
  const route = useRoute();
  const { ending } = useSession();
  const main = useRef<HTMLElement>(null);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { path, item, search } = route;
  // On a narrow screen the menu covers the view that a link of it opens.
  useLayoutEffect(() => setMenuOpen(false), [path, item, search, ending]);
  const closeByEscape = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isMenuOpen) return;
    setMenuOpen(false);
    header.current?.querySelector<HTMLElement>('.menu-button')?.focus();
  };
  const header = useRef<HTMLElement>(null);
  const toContent = (event: Event) => {
    event.preventDefault();
    main.current?.focus();
  };
  return (
    <div class="shell">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the menu from any of its elements */}
      <header class="side" ref={header} onKeyDown={closeByEscape}>
        <a class="skip" href={`#/${route.path}`} onClick={toContent}>
          Skip to content
        </a>
        <p class="brand">
          <a href="#/overview">
            <svg viewBox="0 0 32 32" aria-hidden="true">
              <rect width="32" height="32" rx="7" />
              <path d="M8 8h4v4H8zM16 8h4v4h-4zM20 12h4v4h-4zM8 16h4v4H8zM12 20h4v4h-4zM20 20h4v4h-4z" />
            </svg>
            PHM keys
          </a>
        </p>
        <HeaderNotes route={route.path} />
        <ServerLight />
        <button
          type="button"
          class="menu-button"
          aria-expanded={isMenuOpen}
          aria-controls="menu"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          Menu
        </button>
        <div id="menu" class={isMenuOpen ? 'menu open' : 'menu'}>
          <nav aria-label="Views">
            <ul>
              {ROUTES.map(({ path, label }) => (
                <li key={path}>
                  <a href={`#/${path}`} aria-current={path === route.path ? 'page' : undefined}>
                    {label}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          {ending !== undefined && <KeyBar route={route.path} />}
          <div class="tools">
            <HealthLink />
            <a href="testbench">Test bench</a>
            <a href="docs">Docs</a>
            <ThemeToggle />
          </div>
        </div>
      </header>
      <main ref={main} tabIndex={-1}>
        <View key={route.path} route={route} />
      </main>
    </div>
  );
}

function View({ route }: { route: Route }) {
  const { title, lead } = TEXTS[route.path];
  const { ending, generation } = useSession();
  const heading = useHeadingFocus(title, generation);
  return (
    <>
      <div class="title">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <p>{lead}</p>
      </div>
      {ending === undefined && !WITHOUT_API_KEY.includes(route.path) ? (
        <SignIn>
          {(route.path === 'overview' || route.path === 'generate') && <Explanation />}
        </SignIn>
      ) : (
        <Content key={generation} route={route} />
      )}
    </>
  );
}

function SignIn({ children }: { children: ComponentChildren }) {
  const { isRestoring } = useSession();
  return isRestoring ? <p class="note">Signing in…</p> : <KeyEntry>{children}</KeyEntry>;
}

function Content({ route }: { route: Route }) {
  switch (route.path) {
    case 'overview':
      return <OverviewView />;
    case 'generate':
      return <GenerateView />;
    case 'keys':
      return <KeysView route={route} />;
    case 'validate':
      return <ValidateView />;
    case 'receipts':
      return <ReceiptsView />;
    case 'usage':
      return <UsageView />;
    case 'evidence':
      return <EvidenceView />;
    case 'status':
      return <StatusView />;
    case 'unknown':
      return <Unknown />;
  }
}

function Unknown() {
  return (
    <ul class="panel views">
      {ROUTES.map(({ path, label }) => (
        <li key={path}>
          <a href={`#/${path}`}>{label}</a>
        </li>
      ))}
    </ul>
  );
}

let isFirstView = true;

/** Reports whether the focus is on an element that stays when the content is replaced. */
function isFocusElsewhere(): boolean {
  return document.activeElement?.closest('header') != null;
}

/**
 * Sets the window title. Moves the focus to the heading when the view changes, and when the API key changes unless
 * the reader is in the header. A layout effect does this before the browser handles the next key press, which then
 * reaches the new view.
 */
function useHeadingFocus(title: string, generation: number) {
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef<string>(undefined);
  useLayoutEffect(() => {
    const isNewView = shown.current !== title;
    shown.current = title;
    document.title = `${title} · PHM key service`;
    if (!isFirstView && (isNewView || !isFocusElsewhere())) heading.current?.focus();
    isFirstView = false;
  }, [title, generation]);
  return heading;
}
