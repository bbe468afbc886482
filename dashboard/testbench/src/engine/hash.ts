/** The digest of a whole file. */
import { Sha256 } from '../../../../packages/sp800-22/src/sha256.ts';

/** Returns the SHA-256 in hexadecimal digits. */
export async function hashFile(file: Blob): Promise<string> {
  const hash = new Sha256();
  const reader = file.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return hash.hex();
    hash.update(value);
  }
}
