/** `phm audit`: lists, exports and verifies the records of administrative actions. */

import type { Command } from 'commander';
import { CommandError, jsonLine, writeJson, writeTable } from '#platform/commands';
import { formatProof } from '#tlog';
import { formatTimestamp } from '../../clock.ts';
import { AuditProver, allAudits, verifyAudits } from '../../inspection/index.ts';
import { auditStatement, formatAuditId } from '../../keys/terms.ts';
import type { AuditRecord } from '../../ledger/index.ts';
import type { CliContext } from '../context.ts';
import { tellFindings } from '../findings.ts';
import { counted } from './row-counts.ts';
import { withStoreToRead } from './with-store.ts';

const EXPORT_HELP = `
Each line is a JSON object: the statement (type phm-audit/v1), the origin of its log, the index of its entry, and the proof
in the form of c2sp.org/tlog-proof. The entry is the SHA-256 of the statement in canonical form (RFC 8785). Index and proof
are null for records from before the log, and until a checkpoint covers the entry.

Example:
  phm audit export > audit.ndjson
`;

const VERIFY_HELP = `
Each record must be an entry of the log, with a proof that leads to the newest checkpoint. Records from before the log are
counted apart. To check that no record was deleted: phm log check
Exit code: 0 all verified, 1 findings or failed, 2 wrong usage.
`;

export function addAuditCommands(program: Command, context: CliContext): void {
  const audit = program
    .command('audit')
    .description('list, export and verify the records of administrative actions');
  audit
    .command('list')
    .description('list all records: time, action, details; --json has long details in full')
    .option('--json', 'write the result as JSON')
    .action((options: { json?: boolean }) => list(context, options));
  audit
    .command('export')
    .description('write all statements with their proofs, as JSON lines')
    .addHelpText('after', EXPORT_HELP)
    .action(() => exportAll(context));
  audit
    .command('verify')
    .description('verify each record against the log')
    .option('--json', 'write the result as JSON')
    .addHelpText('after', VERIFY_HELP)
    .action((options: { json?: boolean }) => verify(context, options));
}

async function list(context: CliContext, { json }: { json?: boolean }): Promise<void> {
  await withStoreToRead(context, async (store) => {
    const records = await Array.fromAsync(allAudits(store));
    if (json) {
      writeJson(context, { records: records.map(toJson) });
      return;
    }
    writeTable(
      context,
      ['TIME', 'ACTION', 'DETAILS'],
      records.map(({ atMs, action, details }) => [formatTimestamp(atMs), action, shorten(details)]),
    );
  });
}

/** Most characters of details in the table. The verifier keys of a log have 2,000. */
const MAX_DETAILS = 160;

function shorten(details: string): string {
  return details.length <= MAX_DETAILS ? details : `${details.slice(0, MAX_DETAILS)}…`;
}

function toJson(record: AuditRecord) {
  return {
    audit_id: formatAuditId(record.auditId),
    time: formatTimestamp(record.atMs),
    action: record.action,
    details: parseDetails(record),
  };
}

/** Throws `CommandError` for a record whose details are no JSON, which no server writes. */
function parseDetails({ auditId, details }: AuditRecord): unknown {
  try {
    return JSON.parse(details);
  } catch {
    throw new CommandError(
      `the audit record ${formatAuditId(auditId)} was changed: its details are no JSON. To examine all: phm audit verify`,
      1,
    );
  }
}

async function exportAll(context: CliContext): Promise<void> {
  await withStoreToRead(context, async (store) => {
    const prover = new AuditProver(store, await store.logs());
    let count = 0;
    for await (const record of allAudits(store)) {
      parseDetails(record);
      const { place, proof } = await prover.prove(record);
      const line = {
        statement: {
          ...auditStatement(record, place?.log.origin ?? ''),
          service: place?.log.origin ?? null,
        },
        index: place?.index ?? null,
        proof: proof && formatProof(proof),
      };
      await context.outBytes(Buffer.from(jsonLine(line)));
      count++;
    }
    context.err(`Exported ${counted(count, 'audit record')}.\n`);
  });
}

async function verify(context: CliContext, { json }: { json?: boolean }): Promise<void> {
  const { findings, ...counts } = await withStoreToRead(context, verifyAudits);
  if (json) writeJson(context, { ...counts, findings: findings.list });
  else {
    tellFindings(context.err, findings.list);
    context.err(
      `Verified ${counted(counts.verified, 'audit record')}. Waiting for a checkpoint: ${counts.waiting}. Older than the ` +
        `log: ${counts.older}.\n`,
    );
  }
  if (findings.list.length === 0) return;
  throw new CommandError(`the check failed: ${counted(findings.list.length, 'finding')}`, 1);
}
