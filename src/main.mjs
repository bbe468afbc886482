/**
 * The first file of the program: it says where compiled code is kept, and runs `main.ts`. It is JavaScript, because Node
 * compiles the first file without that folder: for TypeScript each process would load Node's compiler of types, and keep it.
 */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Node runs whatever is in the folder, so no other user may write there. `main.ts` takes the user's own mask as it was.
const umask = process.umask(0o077);
// NODE_COMPILE_CACHE takes precedence. If the folder is not writable, the cache is incomplete or missing.
enableCompileCache(fileURLToPath(new URL('../build/compile-cache', import.meta.url)));
process.umask(umask);

await import('./main.ts');
