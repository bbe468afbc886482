/** Sets up the page of the API documentation: address, demo key, examples, colours. */
(() => {
  /** What the examples of the document are written with. */
  const EXAMPLE_ADDRESS = 'http://127.0.0.1:8080';
  const EXAMPLE_KEY = /phmsk_demo_\w+/g;

  const base = new URL('../', document.baseURI).href;
  let demoKey = null;
  let language = 'curl';

  /** An example as it works for whoever reads it here. */
  function personal(source) {
    return source
      .replaceAll(EXAMPLE_ADDRESS, base.replace(/\/$/, ''))
      .replace(EXAMPLE_KEY, demoKey ?? 'YOUR_API_KEY');
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
            const copy = () => navigator.clipboard.writeText(source).then(() => setCopied(true));
            return h(
              'section',
              { className: 'samples', 'aria-label': 'Examples' },
              h('h4', null, 'Examples'),
              tabs,
              // Browsers give the clipboard to pages from https: and from this machine alone.
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

  /** The demo key that this server admits in requests from here, or null. */
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

  async function start() {
    followColours();
    demoKey = await findDemoKey().catch(() => null);
    const ui = window.SwaggerUIBundle({
      domNode: document.getElementById('docs'),
      url: new URL('api/v2/openapi.json', base).href,
      presets: [window.SwaggerUIBundle.presets.apis],
      plugins: [samplesPlugin],
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
