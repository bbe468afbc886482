/** Values of an answer fill the requests that need them: a generated key in validate, its key_id in revoke. */
import { type LastKey, shared } from './shared.ts';
import { type Call, type Filled, inJson } from './snippets.ts';

type Members = Readonly<Record<string, unknown>>;

/** Keeps what the answer says about a key. */
export function noteAnswer(text: string): void {
  const lastKey = keyIn(text);
  if (lastKey) shared.change({ lastKey });
}

function keyIn(text: string): LastKey | null {
  const body = membersOf(parsed(text));
  const [first] = Array.isArray(body.keys) ? body.keys : [];
  const generated = first === undefined ? body : membersOf(first);
  const { key_id: keyId, key, hash_proof: hashProof } = generated;
  if (typeof keyId !== 'string' || !('security_strength_bits' in generated)) return null;
  const { key_commitment: keyCommitment } = membersOf(membersOf(generated.receipt).statement);
  return {
    keyId,
    ...(typeof key === 'string' && { key }),
    ...(typeof hashProof === 'string' && { hashProof }),
    ...(typeof keyCommitment === 'string' && { keyCommitment }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

/** Returns an example of a request with the values of the last key in place of its own. */
export function fillExample(call: Call, example: number, lastKey: LastKey | null): Filled {
  const { body } = call.examples[example] ?? {};
  const keyId = lastKey ? { keyId: lastKey.keyId } : {};
  return body === undefined ? keyId : { ...keyId, body: inJson(withLast(body, lastKey)) };
}

function withLast(body: object, lastKey: LastKey | null): object {
  const known: Members = {
    key: lastKey?.key,
    hash_proof: lastKey?.hashProof,
    ...(lastKey?.keyCommitment !== undefined && {
      key_id: lastKey.keyId,
      key_commitment: lastKey.keyCommitment,
    }),
  };
  const filled = Object.entries(body).map(([name, value]) => [name, known[name] ?? value]);
  return Object.fromEntries(filled);
}
