/** Sets up the API documentation page: address, demo key, examples, colours. */
(() => {
  /** Address and API key in the examples of the document. */
  const EXAMPLE_ADDRESS = 'http://127.0.0.1:8080';
  const EXAMPLE_KEY = /phmsk_demo_\w+/g;

  const base = new URL('../', document.baseURI).href;
  let demoKey = null;
  let language = 'curl';

  /** Returns an example with this server's address and API key. */
  function personal(source) {
    return source
      .replaceAll(EXAMPLE_ADDRESS, base.replace(/\/$/, ''))
      .replace(EXAMPLE_KEY, demoKey ?? 'YOUR_API_KEY');
  }

  /** Announces a text to screen readers. */
  function say(text) {
    document.getElementById('said').textContent = text;
  }

  /** Accessible names of controls that the renderer leaves without one, by selector. */
  const NAMES = {
    '#servers': 'Server',
    '.examples-select-element': 'Example',
    '.body-param__text': 'Request body',
    '.close-modal': 'Close',
  };

  function nameControls() {
    for (const [selector, name] of Object.entries(NAMES)) {
      for (const control of document.querySelectorAll(`${selector}:not([aria-label])`)) {
        control.setAttribute('aria-label', name);
      }
    }
    // Their accessible names differ from their visible texts.
    for (const button of document.querySelectorAll('.modal-btn[aria-label]')) {
      button.removeAttribute('aria-label');
    }
    // Scrollable areas must be reachable by keyboard.
    for (const code of document.querySelectorAll('pre.microlight:not([tabindex])')) {
      code.tabIndex = 0;
    }
  }

  /** Focuses the first control of the dialog if the focused element has disappeared. */
  function keepFocus() {
    if (document.activeElement !== document.body) return;
    document.querySelector('[role="dialog"] :is(input, .close-modal)')?.focus();
  }

  /** Makes the renderer's API key window a dialog that works with the keyboard. */
  function dialogPlugin() {
    return {
      wrapComponents: {
        authorizationPopup: (Popup, { React }) => {
          const h = React.createElement;
          const controls = (box) => [...box.querySelectorAll('input, button')];
          const keepWithin = (event) => {
            if (event.key !== 'Tab') return;
            const all = controls(event.currentTarget);
            const last = event.shiftKey ? all[0] : all.at(-1);
            if (event.target !== last) return;
            event.preventDefault();
            (event.shiftKey ? all.at(-1) : all[0]).focus();
          };
          return (props) => {
            const box = React.useRef(null);
            // A layout effect runs before the next key press, so an immediate one reaches the dialog.
            React.useLayoutEffect(() => {
              const back = document.activeElement;
              box.current.querySelector('input, .close-modal').focus();
              return () => back.focus();
            }, []);
            const dialog = { role: 'dialog', 'aria-modal': true, 'aria-label': 'API key' };
            return h('div', { ...dialog, ref: box, onKeyDown: keepWithin }, h(Popup, props));
          };
        },
      },
    };
  }

  /** Shows the `x-codeSamples` of each operation above its parameters. */
  function samplesPlugin() {
    return {
      wrapComponents: {
        parameters: (Parameters, { React, specSelectors }) => {
          const h = React.createElement;
          function Samples({ samples }) {
            const [chosen, choose] = React.useState(language);
            const [copied, setCopied] = React.useState(false);
            const shown = samples.find(({ label }) => label === chosen) ?? samples[0];
            const source = personal(shown.source);
            const tabs = samples.map(({ label }) =>
              h(
                'button',
                {
                  type: 'button',
                  key: label,
                  'aria-pressed': label === shown.label,
                  onClick: () => {
                    language = label;
                    choose(label);
                    setCopied(false);
                  },
                },
                label,
              ),
            );
            const copy = async () => {
              await navigator.clipboard.writeText(source);
              setCopied(true);
              say('Example copied.');
            };
            return h(
              'section',
              { className: 'samples', 'aria-label': 'Examples' },
              h('h4', null, 'Examples'),
              tabs,
              // Browsers allow the clipboard only for https: pages and pages of this machine.
              navigator.clipboard &&
                h('button', { type: 'button', onClick: copy }, copied ? 'Copied' : 'Copy'),
              h('pre', { tabIndex: 0 }, h('code', null, source)),
            );
          }
          return (props) => {
            const samples = specSelectors
              .specJson()
              .getIn(['paths', ...props.pathMethod, 'x-codeSamples']);
            return h(
              React.Fragment,
              null,
              samples && h(Samples, { samples: samples.toJS() }),
              h(Parameters, props),
            );
          };
        },
      },
    };
  }

  /** Returns the demo key that this server accepts from this browser, or null. */
  async function findDemoKey() {
    const answer = await fetch(base, { headers: { Accept: 'application/json' } });
    return (await answer.json()).demo_api_key;
  }

  function followColours() {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
    dark.addEventListener('change', apply);
    apply();
  }

  const documentUrl = new URL('api/v2/openapi.json', base).href;

  async function start() {
    followColours();
    const mend = () => {
      nameControls();
      keepFocus();
    };
    new MutationObserver(mend).observe(document.getElementById('docs'), {
      childList: true,
      subtree: true,
    });
    demoKey = await findDemoKey().catch(() => null);
    const ui = window.SwaggerUIBundle({
      domNode: document.getElementById('docs'),
      url: documentUrl,
      presets: [window.SwaggerUIBundle.presets.apis],
      plugins: [samplesPlugin, dialogPlugin],
      requestInterceptor: (request) => {
        say('');
        return request;
      },
      responseInterceptor: (answer) => {
        if (answer.url !== documentUrl) say(`The server responded with status ${answer.status}.`);
        return answer;
      },
      syntaxHighlight: { theme: 'obsidian' },
      layout: 'BaseLayout',
      deepLinking: true,
      docExpansion: 'list',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      validatorUrl: null,
      onComplete: () => {
        if (demoKey === null) return;
        ui.preauthorizeApiKey('apiKey', demoKey);
        document.getElementById('demo-key').textContent = demoKey;
        document.getElementById('demo').hidden = false;
      },
    });
  }

  start();
})();
