/**
 * Receipts that are right or wrong in one way, with the verdict's problems. The cases are JSON: other platforms verify the
 * same ones (test/campaigns/receipt-platforms.test.ts).
 */
import { randomBytes } from 'node:crypto';
import type { KeyStatementV1, KeyStatementV2, Receipt } from '../../sdk/src/index.ts';
import { issue, LOG, LOG_ED25519, ORIGIN, POLICY, policyOf, Signer } from './receipts.ts';

export interface Case {
  readonly name: string;
  readonly receipt: unknown;
  readonly policy?: string;
  readonly key?: string;
  readonly opening?: string;
  /** Start of each problem, in order; empty for a valid receipt. */
  readonly problems: readonly string[];
  /** True if the problem is no verdict, but the reason why there is none. */
  readonly isUnreadable?: boolean;
}

const NOT_INCLUDED = 'The proof does not lead from the statement to the checkpoint: ';
const WRONG_SIGNATURE = `The signature of the log "${ORIGIN}" is wrong: `;

const WITNESS_4 = new Signer('witness.example/one', 'ed25519-cosignature');
const WITNESS_6 = new Signer('witness.example/two', 'ml-dsa-44');
const WITNESS_MUTE = new Signer('witness.example/three', 'ed25519-cosignature');

const WITNESSES = { one: WITNESS_4, two: WITNESS_6, three: WITNESS_MUTE };
const QUORUM = 'group majority 2 one two three\nquorum majority';

/** Replaces the first letter or digit of base64, so that it stays base64 of the same length. */
function alterBase64(base64: string): string {
  return (base64.startsWith('A') ? 'B' : 'A') + base64.slice(1);
}

/** A different valid value for each member of a statement. */
const ALTERED: { readonly [Member in keyof KeyStatementV1]: unknown } = {
  type: 'phm-key-receipt/v3',
  service: 'other.example/log',
  key_id: 'phm_1',
  time: '2027-01-15T07:59:59.124+00:00',
  security_level: 384,
  security_strength_bits: 128,
  key_commitment: randomBytes(32).toString('base64'),
  evidence: {
    digest: `sha256:${'0'.repeat(64)}`,
    verdict: 'PASS',
    tests_passed: 15,
    total_tests: 15,
  },
  modulation: 'none',
  sources: [],
  row_digest: randomBytes(32).toString('base64'),
  sealed_to: randomBytes(32).toString('base64'),
  sealed_digest: randomBytes(32).toString('base64'),
  software: 'phm-key-service/0.1.1+0123456789abcdef',
  salt: randomBytes(32).toString('base64'),
};

/** What is said beside `NOT_INCLUDED`, or instead of it. */
const SAID: Partial<Record<keyof KeyStatementV1, readonly string[]>> = {
  type: [
    'This is not a receipt: type: expected "phm-key-receipt/v1" or "phm-key-receipt/v2", got "phm-key-receipt/v3".',
  ],
  service: [
    NOT_INCLUDED,
    `The statement is of the log "other.example/log", but the checkpoint is of the log "${ORIGIN}".`,
  ],
};

const { receipt, key, opening } = issue();
const { statement, proof } = receipt;

/** Splits at the empty line before the checkpoint. */
const [head = '', checkpoint = ''] = proof.split(/(?<=\n)\n(?=keys)/);

const withProof = (text: string): Receipt => ({ statement, proof: text });
const withLine = (from: RegExp, to: string): Receipt => withProof(proof.replace(from, to));

const DELIVERY = { id: '6f1c2f0e-7a55-4c7e-9d1b-0a3a5e2d4f60', context: null };

function sealsTo(recipients: number): { readonly to: string; readonly digest: string }[] {
  const random = () => randomBytes(32).toString('base64');
  return Array.from({ length: recipients }, () => ({ to: random(), digest: random() }));
}

/** Changes of a statement about a key for two recipients. */
function alteredSeals(): Case[] {
  const { receipt: right } = issue({ statement: { sealed: sealsTo(2) } });
  const { sealed } = right.statement as KeyStatementV2;
  const [first] = sealed;
  const no = 'This is not a receipt: ';
  return Object.entries({
    'another recipient': [{ sealed: [...sealed.slice(0, 1), ...sealsTo(1)] }, NOT_INCLUDED],
    'a further recipient': [{ sealed: [...sealed, ...sealsTo(1)] }, NOT_INCLUDED],
    'another order of recipients': [{ sealed: sealed.toReversed() }, NOT_INCLUDED],
    'a delivery': [{ delivery: DELIVERY }, NOT_INCLUDED],
    'one recipient': [{ sealed: [first] }, `${no}statement names 1 recipient instead of 2 to 8.`],
    'a recipient twice': [{ sealed: [first, first] }, `${no}statement names one recipient twice.`],
    'nine recipients': [
      { sealed: sealsTo(9) },
      `${no}sealed: expected a list of at most 8, got a list of 9.`,
    ],
    'the members of the first type': [
      { sealed_to: first?.to },
      `${no}statement has an unknown member "sealed_to".`,
    ],
    'the name of the first type': [
      { type: 'phm-key-receipt/v1' },
      `${no}statement has an unknown member `,
    ],
  } as const).map(([name, [changes, problem]]) => ({
    name: `a key for two, with ${name}`,
    receipt: { ...right, statement: { ...right.statement, ...changes } },
    policy: POLICY,
    problems: [problem],
  }));
}

function right(): Case[] {
  const levels = ([128, 256, 384] as const).map((bits) => {
    const issued = issue({ bits });
    return { name: `a key of ${bits} bits with its opening`, ...issued, policy: POLICY };
  });
  const places = [
    [0, 1],
    [0, 2],
    [6, 7],
    [255, 256],
    [256, 257],
  ].map(([index = 0, size = 0]) => {
    const issued = issue({ index, size });
    return { name: `entry ${index} of ${size}`, receipt: issued.receipt, policy: POLICY };
  });
  const witnessed = issue({ signers: [LOG_ED25519, LOG, WITNESS_4, WITNESS_6] }).receipt;
  const several = [2, 8].map((recipients) => ({
    name: `a key for ${recipients} recipients`,
    ...issue({ statement: { sealed: sealsTo(recipients) } }),
    policy: POLICY,
  }));
  const delivered = issue({ statement: { sealed: sealsTo(1), delivery: DELIVERY } });
  return [
    ...levels,
    ...places,
    ...several,
    { name: 'a delivered key', ...delivered, policy: POLICY },
    { name: 'the text of a receipt', receipt: JSON.stringify(receipt), policy: POLICY },
    {
      name: 'a text with a byte order mark',
      receipt: `\ufeff${JSON.stringify(receipt)}`,
      policy: POLICY,
    },
    { name: 'a policy with the Ed25519 key', receipt, policy: policyOf([LOG_ED25519]) },
    { name: 'a policy with both keys', receipt, policy: policyOf([LOG, LOG_ED25519]) },
    {
      name: 'a quorum of witnesses of both kinds',
      receipt: witnessed,
      policy: policyOf([LOG], WITNESSES, QUORUM),
    },
    {
      name: 'witnesses that the policy lists but does not ask for',
      receipt: witnessed,
      policy: policyOf([LOG], WITNESSES),
    },
  ].map((one) => ({ ...one, problems: [] }));
}

function alteredStatements(): Case[] {
  return Object.entries(ALTERED).map(([member, value]) => ({
    name: `an altered ${member}`,
    receipt: { statement: { ...statement, [member]: value }, proof },
    policy: POLICY,
    problems: SAID[member as keyof KeyStatementV1] ?? [NOT_INCLUDED],
  }));
}

function alteredProofs(): Case[] {
  const root = checkpoint.split('\n')[2] ?? '';
  const hash = head.split('\n')[2] ?? '';
  return [
    {
      name: 'an altered hash of the proof',
      receipt: withProof(proof.replace(hash, alterBase64(hash))),
      problems: [NOT_INCLUDED],
    },
    {
      name: 'a proof without its last hash',
      receipt: withProof(`${head.replace(/[^\n]+\n$/, '')}\n${checkpoint}`),
      problems: [
        'The proof has 3 hashes, but entry 5 of 11 entries needs 4: it was cut, or it is for another index.',
      ],
    },
    {
      name: 'a proof for another index',
      receipt: withLine(/^index 5$/m, 'index 4'),
      problems: [NOT_INCLUDED],
    },
    {
      name: 'a proof for an index with a shorter way',
      receipt: withLine(/^index 5$/m, 'index 10'),
      problems: ['The proof has 4 hashes, but entry 10 of 11 entries needs 2: '],
    },
    {
      name: 'an index beyond the checkpoint',
      receipt: withLine(/^index 5$/m, 'index 11'),
      problems: [
        'The proof is for entry 11, counted from 0, but its checkpoint covers only 11 entries.',
      ],
    },
    {
      name: 'an altered tree size',
      receipt: withLine(/^11$/m, '12'),
      problems: [WRONG_SIGNATURE],
    },
    {
      name: 'an altered root',
      receipt: withProof(proof.replace(root, alterBase64(root))),
      problems: [NOT_INCLUDED, WRONG_SIGNATURE],
    },
    {
      name: 'an altered origin of the checkpoint',
      receipt: withLine(/\nkeys\.example\/log\n/, '\nother.example/log\n'),
      problems: [
        `The statement is of the log "${ORIGIN}", but the checkpoint is of the log "other.example/log".`,
        `The policy does not list the log "other.example/log": it lists "${ORIGIN}".`,
      ],
    },
  ].map((one) => ({ ...one, policy: POLICY }));
}

function signatures(): Case[] {
  const foreign = new Signer(ORIGIN, 'ml-dsa-44');
  const missing = `The checkpoint has no signature by the key of the policy for the log "${ORIGIN}" (key ID ${LOG.keyId.toString('hex')}): `;
  const lines = checkpoint.split(/(?=— )/);
  const last = lines.at(-1) ?? '';
  const [, name = '', base64 = ''] = /^— (\S+) (\S+)$/m.exec(last) ?? [];
  const altered = (at: number): string => {
    const bytes = Buffer.from(base64, 'base64');
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return `— ${name} ${bytes.toString('base64')}\n`;
  };
  const shortened = Buffer.from(base64, 'base64').subarray(0, -1).toString('base64');
  const other = issue({ signers: [new Signer(ORIGIN, 'ed25519'), foreign] }).receipt;
  return [
    {
      name: 'a receipt without the signature of the policy’s key',
      receipt: withProof(proof.replace(last, '')),
      problems: [missing],
    },
    { name: 'a receipt that another key signed', receipt: other, problems: [missing] },
    {
      name: 'a signature under another key ID',
      receipt: withProof(proof.replace(last, altered(0))),
      problems: [missing],
    },
    {
      name: 'an altered time of the signature',
      receipt: withProof(proof.replace(last, altered(11))),
      problems: [WRONG_SIGNATURE],
    },
    {
      name: 'an altered signature',
      receipt: withProof(proof.replace(last, altered(1000))),
      problems: [WRONG_SIGNATURE],
    },
    {
      name: 'a signature that lacks a byte',
      receipt: withProof(proof.replace(last, `— ${name} ${shortened}\n`)),
      problems: [WRONG_SIGNATURE],
    },
    {
      name: 'a right and a wrong signature of the same key',
      receipt: withProof(`${proof}${altered(1000)}`),
      problems: [WRONG_SIGNATURE],
    },
    {
      name: 'an altered Ed25519 signature that the policy asks for',
      receipt: withProof(proof.replace(lines[1] ?? '', alterLine(lines[1] ?? ''))),
      policy: policyOf([LOG_ED25519]),
      problems: [WRONG_SIGNATURE],
    },
    {
      name: 'an altered Ed25519 signature that the policy does not know',
      receipt: withProof(proof.replace(lines[1] ?? '', alterLine(lines[1] ?? ''))),
      problems: [],
    },
    {
      name: 'a signature from the future',
      receipt: issue({ time: 1_800_010_000 }).receipt,
      problems: [`The signature of the log "${ORIGIN}" is from 2027-01-15T10:46:40Z, `],
    },
  ].map((one) => ({ policy: POLICY, ...one }));
}

/** Alters the signature, not the key ID before it. */
function alterLine(line: string): string {
  const [, name = '', base64 = ''] = /^— (\S+) (\S+)$/m.exec(line) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  return `— ${name} ${bytes.toString('base64')}\n`;
}

function policies(): Case[] {
  const other = new Signer('other.example/log', 'ml-dsa-44');
  const one = issue({ signers: [LOG, WITNESS_4] }).receipt;
  const wrongKeyId = POLICY.replace(/\+[0-9a-f]{8}\+/, '+00000000+');
  return [
    {
      name: 'no policy',
      receipt,
      problems: ['Without a pinned policy nothing shows whose log this is: '],
    },
    {
      name: 'the policy of another log',
      receipt,
      policy: policyOf([other]),
      problems: [`The policy does not list the log "${ORIGIN}": it lists "other.example/log".`],
    },
    {
      name: 'a receipt of another log',
      receipt: issue({ statement: { service: other.name }, signers: [other] }).receipt,
      policy: POLICY,
      problems: [`The policy does not list the log "other.example/log": it lists "${ORIGIN}".`],
    },
    {
      name: 'a policy without a log',
      receipt,
      policy: 'quorum none\n',
      problems: [`The policy does not list the log "${ORIGIN}": it lists no log at all.`],
    },
    {
      name: 'a policy that is none',
      receipt,
      policy: 'log\n',
      problems: ['The policy cannot be read: line 1 of the policy: expected log <vkey> [<url>].'],
    },
    // A secret in a file that was named by mistake must not be in what verification says.
    ...[
      {
        name: 'a master secret',
        text: `1:${'5a'.repeat(32)}`,
        expected: 'log, witness, group or quorum',
      },
      {
        name: 'a signing key',
        text: `log PRIVATE+KEY+${ORIGIN}+0123abcd+${'A'.repeat(44)}`,
        expected: 'a verifier key "<name>+<8 hexadecimal digits>+<base64>"',
      },
    ].map(({ name, text, expected }) => ({
      name: `${name} as the policy`,
      receipt,
      policy: text,
      problems: [
        `The policy cannot be read: line 1 of the policy: expected ${expected}, got a text of ${text.replace('log ', '').length} characters.`,
      ],
    })),
    {
      name: 'a policy that is empty',
      receipt,
      policy: '',
      problems: ['The policy cannot be read: the policy has no quorum line.'],
    },
    {
      name: 'a policy with a wrong key ID',
      receipt,
      policy: wrongKeyId,
      problems: [`The policy's key for the log "${ORIGIN}" was altered: its key ID 00000000 `],
    },
    {
      name: 'a quorum without cosignatures',
      receipt,
      policy: policyOf([LOG], WITNESSES, QUORUM),
      problems: [
        'Not yet cosigned: the policy asks for the quorum "majority" of witnesses, but no witness of it cosigned this checkpoint. Fetch the receipt again later.',
      ],
    },
    {
      name: 'a quorum that is not reached',
      receipt: one,
      policy: policyOf([LOG], WITNESSES, QUORUM),
      problems: [
        'Not yet cosigned: the policy asks for the quorum "majority" of witnesses, but only one cosigned this checkpoint. Fetch the receipt again later.',
      ],
    },
    {
      name: 'a wrong cosignature',
      receipt: {
        ...one,
        proof: one.proof.replace(/— witness[^\n]*\n/, (line) => alterLine(line)),
      },
      policy: policyOf([LOG], WITNESSES, 'quorum none'),
      problems: ['The signature of the witness "one" is wrong: '],
    },
  ];
}

function keys(): Case[] {
  const misfit = 'The given key is not the key of this receipt, or the opening belongs to another';
  const opener = Buffer.from(opening, 'base64');
  const wrongOpening = 'The opening has the wrong form: an opening is base64 of exactly 32 bytes.';
  const ofLength = (bytes: number) => Buffer.concat([opener, Buffer.alloc(bytes)]);
  return [
    {
      name: 'a file that names another key',
      receipt: { key_id: 'phm_1', receipt },
      problems: ['The file has another key_id than its receipt, which says phm_'],
    },
    {
      name: 'an answer with another length and another recipient',
      receipt: { security_level: 128, sealed_to: randomBytes(32).toString('base64'), receipt },
      problems: [
        'The file has another security_level than its receipt, which says 256: ',
        'The file has another sealed_to than its receipt, which says none: ',
      ],
    },
    {
      name: 'a file that names its own key',
      receipt: { key_id: receipt.statement.key_id, security_level: 256, sealed_to: null, receipt },
      problems: [],
    },
    { name: 'another key', key: randomBytes(32).toString('hex'), opening, problems: [misfit] },
    { name: 'the opening of another key', key, opening: issue().opening, problems: [misfit] },
    {
      name: 'a key of another length',
      key: key.slice(2),
      opening,
      problems: [
        'The key has the wrong form: the receipt is for a key of 256 bits, which is 64 hexadecimal digits.',
      ],
    },
    {
      name: 'a key with a wrong digit',
      key: `${key.slice(1)}g`,
      opening,
      problems: ['The key has the wrong form: '],
      isUnreadable: true,
    },
    {
      name: 'a key of half a byte more than a byte',
      receipt: issue({ statement: { security_level: 12 } }).receipt,
      key: 'abc',
      opening,
      problems: ['The key has the wrong form: '],
      isUnreadable: true,
    },
    { name: 'a key in upper case', key: key.toUpperCase(), opening, problems: [] },
    // HMAC pads a short key with zeros, so this one would open the commitment.
    {
      name: 'an opening with a zero byte more',
      key,
      opening: ofLength(1).toString('base64'),
      problems: [wrongOpening],
    },
    {
      name: 'an opening of 31 bytes',
      key,
      opening: opener.subarray(1).toString('base64'),
      problems: [wrongOpening],
    },
    { name: 'an empty opening', key, opening: '', problems: [wrongOpening] },
    { name: 'an opening that is not base64', key, opening: '?', problems: [wrongOpening] },
    { name: 'a key without its opening', key, problems: ['Only the key was given: '] },
    { name: 'an opening without its key', opening, problems: ['Only the opening was given: '] },
  ].map((one) => ({ receipt, policy: POLICY, ...one }));
}

/** Returns texts which `JSON.parse` reads as the right receipt, although a member is in them twice. */
function repeated(text: string) {
  const texts = [
    { name: 'a proof twice', member: 'proof', from: '{', to: '{"proof":"",' },
    { name: 'a salt twice', member: 'salt', from: '"salt"', to: '"salt":"AA==","salt"' },
    { name: 'an escaped salt', member: 'salt', from: '"salt"', to: '"s\\u0061lt":{"a":[]},"salt"' },
    { name: 'a name twice', member: 'name', from: '"name":', to: '"name" : "\\"{,", "name"\n:' },
    {
      name: 'a member twice within a member that is there twice',
      member: 'x',
      from: '"salt"',
      to: '"salt":[{"x":1,"y":2,"x":{}}],"salt"',
    },
  ];
  return texts.map(({ from, to, ...one }) => ({ ...one, text: text.replace(from, to) }));
}

function misshapen(): Case[] {
  const cut = JSON.stringify(receipt);
  const { salt, ...unsalted } = statement;
  void salt;
  const no = 'This is not a receipt: ';
  return [
    {
      name: 'half of a receipt',
      receipt: cut.slice(0, 700),
      problems: [`${no}it is not JSON, or it was cut.`],
    },
    { name: 'nothing', receipt: '', problems: [`${no}it is not JSON, or it was cut.`] },
    ...repeated(cut).map((one) => ({
      name: `the text with ${one.name}`,
      receipt: one.text,
      problems: [`${no}a JSON object has the member "${one.member}" twice.`],
    })),
    ...(['utf16le', 'latin1'] as const).map((encoding) => ({
      name: `a text that was saved as UTF-16 and read as UTF-8 (${encoding})`,
      receipt: Buffer.from(
        encoding === 'latin1' ? `\0${[...cut].join('\0')}` : cut,
        encoding,
      ).toString(),
      problems: [`${no}it is not UTF-8 text`],
    })),
    {
      name: 'a text of UTF-16 with a byte order mark',
      receipt: Buffer.from(`\ufeff${cut}`, 'utf16le').toString(),
      problems: [`${no}it is not UTF-8 text`],
    },
    { name: 'a number', receipt: 5, problems: [no] },
    {
      name: 'null',
      receipt: null,
      problems: [`${no}the receipt: expected a JSON object, got null.`],
    },
    {
      name: 'a recipient that is not base64',
      receipt: { statement: { ...statement, sealed_to: 'x' }, proof },
      problems: [`${no}sealed_to: expected base64 of 1 to 4096 bytes, got "x".`],
    },
    {
      name: 'an empty recipient',
      receipt: { statement: { ...statement, sealed_to: '' }, proof },
      problems: [`${no}sealed_to: expected base64 of 1 to 4096 bytes, got "".`],
    },
    { name: 'a list', receipt: [receipt], problems: [no] },
    { name: 'a statement alone', receipt: statement, problems: [no] },
    { name: 'a receipt without its proof', receipt: { statement }, problems: [no] },
    {
      name: 'a receipt with a further member',
      receipt: { ...receipt, more: 1 },
      problems: [`${no}the receipt has an unknown member "more".`],
    },
    {
      name: 'a statement without its salt',
      receipt: { statement: unsalted, proof },
      problems: [`${no}statement has no member "salt".`],
    },
    {
      name: 'a proof that is no proof',
      receipt: withProof('proof'),
      problems: ['The proof cannot be read: '],
    },
    {
      name: 'a proof without its checkpoint',
      receipt: withProof(head),
      problems: ['The proof cannot be read: '],
    },
    {
      name: 'a checkpoint without signatures',
      receipt: withProof(proof.split('\n\n—')[0] ?? ''),
      problems: ['The proof cannot be read: the checkpoint has no signature line.'],
    },
    {
      name: 'a checkpoint whose signature lines were removed',
      receipt: withProof(proof.replace(/^—.*\n/gm, '')),
      problems: ['The proof cannot be read: the checkpoint has no signature line.'],
    },
    {
      name: 'an empty log',
      receipt: withLine(/^11$/m, '0'),
      problems: [
        'The proof is for entry 5, counted from 0, but its checkpoint covers only 0 entries.',
      ],
    },
    {
      name: 'a tree size that is no number',
      receipt: withLine(/^11$/m, 'many'),
      problems: ['The checkpoint cannot be read: '],
    },
  ].map((one) => ({ policy: POLICY, ...one }));
}

/** Begins what is said of receipts, policies and openings that cannot be read. */
const UNREADABLE =
  /^(?:This is not a receipt: |The proof is for entry |The proof has |The (?:proof|checkpoint|policy) cannot be read: |The opening has the wrong form: )/;

export const CASES: readonly Case[] = [
  ...right(),
  ...alteredStatements(),
  ...alteredSeals(),
  ...alteredProofs(),
  ...signatures(),
  ...policies(),
  ...keys(),
  ...misshapen(),
].map((one) => ({ isUnreadable: UNREADABLE.test(one.problems[0] ?? ''), ...one }));
