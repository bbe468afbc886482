/** Verifies a receipt offline: nothing is sent or fetched. */
import { assertObject } from '../options.ts';
import { CLOCK_TOLERANCE_SECONDS, checkAuthority } from './authority.ts';
import { checkEvidence, type EvidenceReport } from './evidence.ts';
import { equalBytes, rootOf, sha256, utf8 } from './hash.ts';
import { checkPossession, type Secret } from './possession.ts';
import { openReceiptFile, type ReadReceipt, type ReceiptFile, readReceipt } from './read.ts';
import { canonicalJson, type KeyStatement, statedRecipients } from './tlog.ts';
import { count, Findings, instant, list, type ReceiptVerdict } from './verdict.ts';

export interface ReceiptOptions {
  /**
   * Text of a policy (c2sp.org/tlog-policy) that lists the logs you accept. Pin it: keep one that you got independently of
   * the receipt. Without it the verdict is never valid.
   */
  readonly policy?: string | undefined;
  /** The key, in hexadecimal or as 16, 32 or 48 bytes, to check that the receipt is for it. Needs `opening`. */
  readonly key?: Secret | undefined;
  /** The `opening` that came with the key: base64, or 32 bytes. */
  readonly opening?: Secret | undefined;
  /** The `nist_report` that came with the key, to check that it is the evidence of the receipt. */
  readonly nistReport?: EvidenceReport | undefined;
  /** The time of the verification; now by default. Signatures from more than 5 minutes later are refused. */
  readonly now?: Date | undefined;
}

/**
 * Verifies a receipt of the PHM key service: the parsed JSON `{ statement, proof }`, its text, or a file or answer that has the
 * receipt within it. Key, opening and report of such a file are checked too, unless the options give others. A receipt, key
 * or report that is wrong gives a verdict that says so. Rejects with `UnreadableError` for what cannot be read, and with
 * `TypeError` for options of a wrong type and on a page without the Web Crypto API.
 */
export async function verifyReceipt(
  receipt: unknown,
  options: ReceiptOptions = {},
): Promise<ReceiptVerdict> {
  const { policy, now, ...given } = checkOptions(options);
  const file = openReceiptFile(receipt);
  const { key, opening, nistReport } = whatToCheck(given, file);
  const findings = new Findings();
  const read = readReceipt(file.receipt);
  const { statement, proof, signed } = read;
  const isIncluded = await checkInclusion(findings, read);
  const isOwnLog = checkOrigin(findings, read);
  const seconds = now.getTime() / 1000;
  const authority = await checkAuthority(findings, signed, policy, seconds);
  if (isIncluded && isOwnLog && authority.isLogSigned) {
    describeStatement(findings, statement, authority.signedAt);
  }
  checkSaid(findings, statement, file);
  await checkPossession(findings, statement, key, opening);
  await checkEvidence(findings, statement, nistReport);
  findings.notShown.push(LIMIT);
  return {
    valid: findings.problems.length === 0,
    ...findings,
    statement,
    entryIndex: proof.index,
    treeSize: signed.checkpoint.size,
    signedAt: authority.signedAt === null ? null : instant(authority.signedAt),
    witnesses: authority.witnesses,
  };
}

/** What no receipt shows. */
const LIMIT =
  'That the key is random, or that the service kept no copy of it: a receipt shows what the service stated, and when.';

function checkOptions(options: ReceiptOptions): ReceiptOptions & { readonly now: Date } {
  assertObject('the options', options, '{ policy, key, opening }');
  const { policy, key, opening, nistReport, now = new Date() } = options;
  if (policy !== undefined && typeof policy !== 'string') {
    throw new TypeError(`policy must be the text of a policy, got ${typeof policy}`);
  }
  for (const [name, secret] of Object.entries({ key, opening })) {
    if (secret === undefined || typeof secret === 'string' || secret instanceof Uint8Array)
      continue;
    throw new TypeError(`${name} must be a string or a Uint8Array, got ${typeof secret}`);
  }
  if (nistReport !== undefined) assertObject('nistReport', nistReport, 'generated.nist_report');
  if (!(now instanceof Date) || Number.isNaN(now.getTime())) {
    throw new TypeError('now must be a valid Date');
  }
  return { policy, key, opening, nistReport, now };
}

/** Takes from the file what the options do not give. An opening alone, as `phm generate --receipt` writes it, is no secret to check. */
function whatToCheck(given: ReceiptOptions, file: ReceiptFile): ReceiptOptions {
  const { nistReport = file.nistReport } = given;
  const key = given.key ?? file.key;
  const opening = given.opening ?? (key === undefined ? undefined : file.opening);
  return { key, opening, nistReport };
}

/** c2sp.org/tlog-proof, "Verifying a tlog proof", steps 1 and 4. */
async function checkInclusion({ problems, shown }: Findings, read: ReadReceipt): Promise<boolean> {
  const { statement, proof } = read;
  const { checkpoint } = read.signed;
  const entry = await sha256(utf8(canonicalJson(statement)));
  const root = await rootOf(entry, proof.index, checkpoint.size, proof.hashes);
  const isIncluded = root !== null && equalBytes(root, checkpoint.root);
  if (isIncluded) {
    shown.push(
      `Statement, proof and checkpoint fit together: the statement is entry ${proof.index}, counted from 0, of a log with ${count(checkpoint.size, 'entry', 'entries')}.`,
    );
  } else {
    problems.push(
      'The proof does not lead from the statement to the checkpoint: the statement, the proof or the checkpoint was altered, or they do not belong together.',
    );
  }
  return isIncluded;
}

/** Step 2, first half: the statement names the log that it is in. */
function checkOrigin(
  { problems }: Findings,
  { statement: { service }, signed: { checkpoint } }: ReadReceipt,
): boolean {
  if (checkpoint.origin === service) return true;
  problems.push(
    `The statement is of the log "${service}", but the checkpoint is of the log "${checkpoint.origin}".`,
  );
  return false;
}

/** Readers take the ID of a key from the file, not from the statement inside. */
function checkSaid({ problems }: Findings, statement: KeyStatement, { said }: ReceiptFile): void {
  for (const [name, value] of Object.entries(said)) {
    const stated = statedMember(statement, name as keyof typeof said);
    if (value === stated) continue;
    problems.push(
      `The file has another ${name} than its receipt, which says ${stated ?? 'none'}: it was altered, or the receipt is for another key.`,
    );
  }
}

/** Beside a receipt, `sealed_to` is the first recipient, as in the record of a key. */
function statedMember(statement: KeyStatement, name: keyof ReceiptFile['said']): unknown {
  return name === 'sealed_to' ? statedRecipients(statement)[0] : statement[name];
}

function describeStatement(
  { shown, notShown }: Findings,
  statement: KeyStatement,
  signedAt: number | null,
): void {
  const { evidence, key_id: id, security_level: level, time } = statement;
  const tests =
    evidence === null
      ? 'without statistical tests of its own'
      : `with ${evidence.tests_passed} of ${evidence.total_tests} statistical tests passed and the verdict ${evidence.verdict}`;
  shown.push(
    `The log's statement is that it generated the ${level}-bit key ${id} at ${time}, ${tests}.`,
  );
  const recipients = statedRecipients(statement);
  if (recipients.length > 0) {
    const to =
      recipients.length === 1
        ? 'the recipient with the thumbprint'
        : `${recipients.length} recipients, with the thumbprints`;
    shown.push(`The log's statement is also that the key was sealed to ${to} ${list(recipients)}.`);
  }
  if (signedAt !== null && Date.parse(time) / 1000 > signedAt + CLOCK_TOLERANCE_SECONDS) {
    notShown.push('When the key was generated: the stated time is later than the signature.');
  }
}
