/** Checks a checkpoint against a pinned policy: the log's signature, then the quorum of witnesses. */
import { readPolicy } from './policy.ts';
import {
  hasOwnKeyId,
  type SignedCheckpoint,
  signaturesOf,
  UnsupportedError,
  verifySignature,
} from './signatures.ts';
import { ML_DSA_44_COSIGNATURE, type Policy, quorumProblem, type VerifierKey } from './tlog.ts';
import { type Findings, instant, list } from './verdict.ts';

interface Authority {
  /** True if a key of the policy signed for the log, and no known signature is wrong. */
  readonly isLogSigned: boolean;
  /** Seconds since the epoch, from the log's ML-DSA-44 signature; null without one. */
  readonly signedAt: number | null;
  readonly witnesses: readonly string[];
}

const NO_AUTHORITY: Authority = { isLogSigned: false, signedAt: null, witnesses: [] };

/** How far the clocks of log, witnesses and verifier may differ. */
export const CLOCK_TOLERANCE_SECONDS = 300;

/** A right signature of a key. */
interface Signed {
  readonly key: VerifierKey;
  readonly timestamp: number | null;
}

/** `now` is in seconds since the epoch. */
export async function checkAuthority(
  findings: Findings,
  signed: SignedCheckpoint,
  policyText: string | undefined,
  now: number,
): Promise<Authority> {
  if (policyText === undefined) {
    findings.problems.push(
      `Without a pinned policy nothing shows whose log this is: anyone can sign as "${signed.checkpoint.origin}".`,
    );
    return NO_AUTHORITY;
  }
  const policy = readPolicy(policyText);
  const check = { findings, signed, now };
  const before = findings.problems.length;
  const log = await checkLog(check, policy);
  const isLogSigned = findings.problems.length === before;
  const witnesses = await checkWitnesses(check, policy);
  if (isLogSigned) describeLog(findings, signed, log);
  describeWitnesses(findings, policy, witnesses);
  const signedAt = log.find(({ timestamp }) => timestamp !== null)?.timestamp ?? null;
  return { isLogSigned, signedAt, witnesses: [...witnesses.keys()] };
}

interface Check {
  readonly findings: Findings;
  readonly signed: SignedCheckpoint;
  readonly now: number;
}

/** Returns the right signatures by keys that the policy lists for this log. */
async function checkLog(check: Check, policy: Policy): Promise<Signed[]> {
  const { findings, signed } = check;
  const { origin } = signed.checkpoint;
  const keys = policy.logs.map(({ key }) => key).filter(({ name }) => name === origin);
  if (keys.length === 0) {
    const names = policy.logs.map(({ key }) => `"${key.name}"`);
    const listed = names.length === 0 ? 'no log at all' : list([...new Set(names)]);
    findings.problems.push(`The policy does not list the log "${origin}": it lists ${listed}.`);
    return [];
  }
  const before = findings.problems.length;
  const right: Signed[] = [];
  for (const key of keys) right.push(...(await signaturesBy(check, key, `the log "${origin}"`)));
  if (right.length === 0 && findings.problems.length === before) {
    findings.problems.push(
      `The checkpoint has no signature by the key of the policy for the log "${origin}" (key ID ${list(keys.map(hexId))}): another key signed, or the signature was removed.`,
    );
  }
  return right;
}

/** Returns the witnesses that cosigned, by their names in the policy. */
async function checkWitnesses(check: Check, policy: Policy): Promise<Map<string, Signed>> {
  const right = new Map<string, Signed>();
  for (const { name, key } of policy.witnesses) {
    const [first] = await signaturesBy(check, key, `the witness "${name}"`);
    if (first !== undefined) right.set(name, first);
  }
  const problem = quorumProblem(policy, new Set(right.keys()));
  if (problem !== null) check.findings.problems.push(problem);
  return right;
}

/** Returns the right signatures of one key. A wrong one is a problem, as c2sp.org/signed-note says of known keys. */
async function signaturesBy(check: Check, key: VerifierKey, who: string): Promise<Signed[]> {
  const { findings, signed, now } = check;
  const signatures = signaturesOf(key, signed.note);
  if (!(await hasOwnKeyId(key))) {
    findings.problems.push(
      `The policy's key for ${who} was altered: its key ID ${hexId(key)} does not belong to its name and public key.`,
    );
    return [];
  }
  const right: Signed[] = [];
  for (const signature of signatures) {
    try {
      const verified = await verifySignature(key, signed, signature);
      if (verified === null) {
        findings.problems.push(
          `The signature of ${who} is wrong: the checkpoint or the signature was altered.`,
        );
      } else if ((verified.timestamp ?? 0) > now + CLOCK_TOLERANCE_SECONDS) {
        findings.problems.push(
          `The signature of ${who} is from ${instant(verified.timestamp ?? 0)}, which is in the future: check the clock of this machine.`,
        );
      } else right.push({ key, timestamp: verified.timestamp });
    } catch (error) {
      if (!(error instanceof UnsupportedError)) throw error;
      findings.problems.push(`The signature of ${who} was not verified. ${error.message}`);
    }
  }
  return right;
}

function describeLog(
  { shown, notShown }: Findings,
  { checkpoint }: SignedCheckpoint,
  log: readonly Signed[],
): void {
  const how = log.map(({ key, timestamp }) =>
    timestamp === null ? algorithmOf(key) : `${algorithmOf(key)} at ${instant(timestamp)}`,
  );
  shown.push(
    `The log "${checkpoint.origin}" signed the checkpoint with ${list([...new Set(how)])}.`,
  );
  if (!log.some(({ key }) => isPostQuantum(key))) {
    notShown.push(
      'That the signature withstands quantum computers: the policy accepts the Ed25519 key of the log, so the post-quantum signature was not required.',
    );
  }
  if (log.every(({ timestamp }) => timestamp === null)) {
    notShown.push('When the log signed: its Ed25519 signature states no time.');
  }
}

function describeWitnesses(
  { shown, notShown }: Findings,
  policy: Policy,
  witnesses: ReadonlyMap<string, Signed>,
): void {
  if (witnesses.size === 0) {
    notShown.push(
      'That others see the same log: no witness of the policy cosigned. Without independent witnesses a log is a file signed by its owner.',
    );
    return;
  }
  const names = [...witnesses].map(([name, { timestamp }]) =>
    timestamp === null ? name : `${name} at ${instant(timestamp)}`,
  );
  const quorum = policy.quorum === 'none' ? '' : ', as the policy asks';
  shown.push(
    `Witnesses saw a log without contradictions up to this checkpoint${quorum}: ${list(names)}.`,
  );
  if (![...witnesses.values()].every(({ key }) => isPostQuantum(key))) {
    notShown.push(
      'That the cosignatures of all witnesses withstand quantum computers: some are Ed25519.',
    );
  }
}

function isPostQuantum({ type }: VerifierKey): boolean {
  return type === ML_DSA_44_COSIGNATURE;
}

function algorithmOf(key: VerifierKey): string {
  return isPostQuantum(key) ? 'ML-DSA-44' : 'Ed25519';
}

function hexId({ keyId }: VerifierKey): string {
  return keyId.toString(16).padStart(8, '0');
}
