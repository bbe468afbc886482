/**
 * Runs TypeScript examples one after another, each as its file is except for the server's address:
 * `run-examples.ts OLD_ADDRESS NEW_ADDRESS FILE…`. Prints a JSON array of what each printed, or why it failed.
 */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import type { Outcome } from './examples.ts';

const [shown = '', real = '', ...files] = process.argv.slice(2);
const examples = new Set(files.map((file) => pathToFileURL(file).href));

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    if (!examples.has(url)) return loaded;
    return { ...loaded, source: String(loaded.source).replaceAll(shown, real) };
  },
});

const write = process.stdout.write.bind(process.stdout);
const outcomes: Outcome[] = [];
for (const example of examples) {
  let printed = '';
  process.stdout.write = (chunk: string | Uint8Array) => {
    printed += chunk;
    return true;
  };
  try {
    await import(example);
    outcomes.push({ printed });
  } catch (error) {
    outcomes.push({ failure: inspect(error) });
  }
}
write(JSON.stringify(outcomes));
