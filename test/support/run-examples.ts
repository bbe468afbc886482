/**
 * Runs TypeScript examples one after another, each as its file is except for the server's address:
 * `run-examples.ts OLD_ADDRESS NEW_ADDRESS FILE…`. Prints a JSON array of what each printed. The first example that
 * fails ends the process.
 */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

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
const outputs: string[] = [];
for (const example of examples) {
  let printed = '';
  process.stdout.write = (chunk: string | Uint8Array) => {
    printed += chunk;
    return true;
  };
  await import(example);
  outputs.push(printed);
}
write(JSON.stringify(outputs));
