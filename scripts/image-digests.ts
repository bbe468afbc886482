/**
 * Compares the images that deploy/ and the workflows name by tag and digest with their registry: `npx node scripts/image-digests.ts`. The
 * exit code is 1 if a tag has another digest, as after a rebuild of the image, and 2 if the registry does not answer.
 * `--write` writes the registry's digests into the files: edit the tag first, or leave it, then build and try the image.
 * Needs Docker's buildx.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const FILES = [
  '.github/workflows/run.yml',
  'deploy/compose/compose.yaml',
  'deploy/docker/Dockerfile',
];
const PINNED = /([a-z0-9./-]+:[\w.-]+)@(sha256:[0-9a-f]{64})/g;

const root = new URL('../', import.meta.url);
const write = process.argv[2] === '--write';

/** Returns the digest of a tag in its registry: that of the index, so it holds for each platform. */
function digestOf(tag: string): string {
  const args = ['buildx', 'imagetools', 'inspect', '--format', '{{json .Manifest}}', tag];
  const { digest } = JSON.parse(execFileSync('docker', args, { encoding: 'utf8' }));
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`not a digest: ${digest}`);
  return digest;
}

const known = new Map<string, string>();
for (const file of FILES) {
  const path = new URL(file, root);
  const text = readFileSync(path, 'utf8');
  const current = text.replaceAll(PINNED, (_, tag: string, pinned: string) => {
    try {
      if (!known.has(tag)) known.set(tag, digestOf(tag));
    } catch (error) {
      process.stderr.write(`${tag}: the registry did not answer: ${(error as Error).message}\n`);
      process.exit(2);
    }
    const digest = known.get(tag) ?? pinned;
    process.stdout.write(
      `${file}: ${tag} ${digest === pinned ? 'ok' : `${pinned} is now ${digest}`}\n`,
    );
    return `${tag}@${digest}`;
  });
  if (current === text) continue;
  if (write) writeFileSync(path, current);
  else process.exitCode = 1;
}
