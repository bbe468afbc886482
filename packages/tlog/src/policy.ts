/** Trust policies: https://c2sp.org/tlog-policy. */
import { FormatError, quoted, received } from './format-error.ts';
import { ED25519, parseVerifierKey, type VerifierKey } from './note.ts';

export interface PolicyLog {
  readonly key: VerifierKey;
  readonly url: string | null;
}

export interface PolicyWitness {
  /** Name within the policy. The name in its signature lines is `key.name`. */
  readonly name: string;
  readonly key: VerifierKey;
  readonly url: string | null;
}

export interface PolicyGroup {
  readonly name: string;
  /** How many members must have witnessed a checkpoint: 1 to the number of members. */
  readonly threshold: number;
  /** Names of witnesses and of earlier groups. */
  readonly members: readonly string[];
}

export interface Policy {
  readonly logs: readonly PolicyLog[];
  readonly witnesses: readonly PolicyWitness[];
  readonly groups: readonly PolicyGroup[];
  /** Name of a witness or group, or `none`. */
  readonly quorum: string;
}

const NO_QUORUM = 'none';

/** Limits of this implementation: far above what "Implementation limits" asks for. */
const MAX_LENGTH = 2 ** 20;
const MAX_LINES = 4096;

/**
 * Parses a policy. A byte order mark and the line ends of any system are accepted, though the format has only `\n`: an editor
 * writes them without a word. Throws `FormatError` with the number of the line.
 */
export function parsePolicy(text: string): Policy {
  if (/[\0\ufffd\ufffe]/.test(text)) {
    throw new FormatError('the policy is not UTF-8, perhaps UTF-16 or Latin-1: save it as UTF-8');
  }
  const lines = text.replace(/^\ufeff+/, '').split(/\r\n?|\n/);
  if (text.length > MAX_LENGTH || lines.length > MAX_LINES) {
    throw new FormatError(`expected a policy of at most 1 MiB and ${MAX_LINES} lines`);
  }
  const reader = new PolicyReader();
  for (const [i, line] of lines.entries()) {
    try {
      reader.read(line);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      throw new FormatError(`line ${i + 1} of the policy: ${error.message}`);
    }
  }
  return reader.policy();
}

class PolicyReader {
  readonly #logs: PolicyLog[] = [];
  readonly #witnesses: PolicyWitness[] = [];
  readonly #groups: PolicyGroup[] = [];
  readonly #names = new Set([NO_QUORUM]);
  readonly #members = new Set<string>();
  #quorum: string | null = null;

  read(line: string): void {
    // "Character set": of the control characters, only tab and newline.
    if (!/^[\t -~\x80-\uffff]*$/.test(line)) {
      throw new FormatError('control characters other than tab are not allowed');
    }
    const [word, ...items] = line.split(/[ \t]+/).filter((item) => item !== '');
    if (word === undefined || word.startsWith('#')) return;
    if (word === 'log') this.#readLog(items);
    else if (word === 'witness') this.#readWitness(items);
    else if (word === 'group') this.#readGroup(items);
    else if (word === 'quorum') this.#readQuorum(items);
    else throw new FormatError(`expected log, witness, group or quorum, got ${received(word)}`);
  }

  policy(): Policy {
    if (this.#quorum === null) throw new FormatError('the policy has no quorum line');
    return {
      logs: this.#logs,
      witnesses: this.#witnesses,
      groups: this.#groups,
      quorum: this.#quorum,
    };
  }

  #readLog([vkey, url, ...rest]: string[]): void {
    if (vkey === undefined || rest.length > 0) throw new FormatError('expected log <vkey> [<url>]');
    const key = parseVerifierKey(vkey);
    assertNewKey(key, this.#logs);
    this.#logs.push({ key, url: url ?? null });
  }

  #readWitness([name, vkey, url, ...rest]: string[]): void {
    if (name === undefined || vkey === undefined || rest.length > 0) {
      throw new FormatError('expected witness <name> <vkey> [<url>]');
    }
    const key = parseVerifierKey(vkey);
    // Without a type of c2sp.org/tlog-cosignature, a signature says nothing of consistency.
    if (key.type === ED25519) {
      throw new FormatError('a witness needs a key of type 4 or 6 (cosignature), got type 1');
    }
    assertNewKey(key, this.#witnesses);
    this.#define(name);
    this.#witnesses.push({ name, key, url: url ?? null });
  }

  #readGroup([name, count, ...members]: string[]): void {
    if (name === undefined || count === undefined || members.length === 0) {
      throw new FormatError('expected group <name> <all, any or a number> <name>...');
    }
    for (const member of members) {
      this.#assertDefined(member);
      if (member === NO_QUORUM) throw new FormatError('"none" is no member of a group');
      if (this.#members.has(member)) {
        throw new FormatError(`${quoted(member)} is a member of a group already`);
      }
      this.#members.add(member);
    }
    this.#define(name);
    this.#groups.push({ name, threshold: parseThreshold(count, members.length), members });
  }

  #readQuorum([name, ...rest]: string[]): void {
    if (name === undefined || rest.length > 0) throw new FormatError('expected quorum <name>');
    if (this.#quorum !== null) throw new FormatError('the policy has a quorum line already');
    this.#assertDefined(name);
    this.#quorum = name;
  }

  #define(name: string): void {
    if (this.#names.has(name)) throw new FormatError(`the name ${quoted(name)} is taken`);
    this.#names.add(name);
  }

  #assertDefined(name: string): void {
    if (!this.#names.has(name)) {
      throw new FormatError(`no witness or group above is named ${quoted(name)}`);
    }
  }
}

/** Two keys are duplicates if the public key is the same, also under another name. */
function assertNewKey(key: VerifierKey, others: readonly { readonly key: VerifierKey }[]): void {
  const isSame = ({ publicKey }: VerifierKey) =>
    publicKey.length === key.publicKey.length &&
    publicKey.every((byte, i) => byte === key.publicKey[i]);
  if (others.some((other) => isSame(other.key))) {
    throw new FormatError(`the public key of ${key.name} is listed already`);
  }
}

function parseThreshold(count: string, members: number): number {
  if (count === 'all') return members;
  if (count === 'any') return 1;
  const threshold = /^[1-9][0-9]{0,3}$/.test(count) ? Number(count) : Number.NaN;
  if (threshold <= members) return threshold;
  throw new FormatError(
    `expected all, any or a number from 1 to ${members}, got ${received(count)}`,
  );
}

/**
 * Reports whether cosignatures of these witnesses are enough. `witnessNames` holds names within the policy
 * (`PolicyWitness.name`). The quorum `none` is always met.
 */
export function meetsQuorum(policy: Policy, witnessNames: ReadonlySet<string>): boolean {
  if (policy.quorum === NO_QUORUM) return true;
  const met = new Set(
    policy.witnesses.map(({ name }) => name).filter((name) => witnessNames.has(name)),
  );
  // A group names only what stands above it, so one pass is enough.
  for (const { name, threshold, members } of policy.groups) {
    if (members.filter((member) => met.has(member)).length >= threshold) met.add(name);
  }
  return met.has(policy.quorum);
}

/** How the problem of a receipt begins that lacks only cosignatures: they may come, and nothing shows a change. */
export const NOT_YET_COSIGNED = 'Not yet cosigned';

/**
 * Returns in words what a checkpoint lacks that these witnesses, by their names in the policy, have cosigned; null if they
 * are enough.
 */
export function quorumProblem(policy: Policy, witnessNames: ReadonlySet<string>): string | null {
  if (meetsQuorum(policy, witnessNames)) return null;
  const who =
    witnessNames.size === 0
      ? 'no witness of it cosigned'
      : `only ${[...witnessNames].join(', ').replace(/, ([^,]*)$/, ' and $1')} cosigned`;
  return (
    `${NOT_YET_COSIGNED}: the policy asks for the quorum "${policy.quorum}" of witnesses, but ${who} this checkpoint. ` +
    'Fetch the receipt again later.'
  );
}
