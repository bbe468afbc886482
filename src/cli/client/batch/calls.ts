/** The calls of a run: what they ask the service for, and what its answers mean. */
import { CommandError, jsonLine } from '#platform/commands';
import { PhmApiError, PhmError, PhmKeyLostError } from '../../../../sdk/src/index.ts';
import type { Connection } from '../connection.ts';
import { type GenerateFlags, toRequest } from '../generate-flags.ts';
import { DEFAULT_VARIABLE, encodeKey } from '../key-formats.ts';
import { checkAnswer, type SealTargets, toSealedRequest } from '../seal-to.ts';
import type { KeyContent } from './directory.ts';
import type { BatchWork, CallOutcome } from './run.ts';
import { isKeyId, type PendingCall } from './state.ts';

/** Returns the function that makes one call and encodes its keys. */
export function callsOf(
  connection: Connection,
  flags: GenerateFlags,
  targets: SealTargets | null,
): BatchWork['send'] {
  return async ({ count, idempotencyKey }: PendingCall): Promise<CallOutcome> => {
    const options = { idempotencyKey };
    const lostBefore = connection.lostAnswers;
    try {
      const keys = targets
        ? await sealedKeys(
            connection,
            { ...toSealedRequest(flags, targets), count },
            options,
            targets,
          )
        : await plainKeys(connection, { ...toRequest(flags), count }, options, flags);
      assertNames(
        keys.map(({ keyId }) => keyId),
        count,
      );
      return { kind: 'keys', keys };
    } catch (error) {
      return outcomeOf(error, count, connection, connection.lostAnswers > lostBefore);
    }
  };
}

/** The IDs become names of files. Throws `CommandError` if they are not `count` different key IDs. */
function assertNames(keyIds: readonly string[], count: number): void {
  if (new Set(keyIds).size === count && keyIds.length === count && keyIds.every(isKeyId)) return;
  throw new CommandError(
    `the service was asked for ${count} keys and sent others: check --url or PHM_URL`,
    1,
  );
}

/**
 * Throws a failure after which the service may have generated keys. With `isLost`, an earlier request of the call may have
 * generated them.
 */
function outcomeOf(
  error: unknown,
  count: number,
  connection: Connection,
  isLost: boolean,
): CallOutcome {
  if (error instanceof PhmKeyLostError) {
    assertNames(error.keyIds, count);
    return { kind: 'lost', keyIds: error.keyIds };
  }
  const maxCount = error instanceof PhmApiError ? error.maxCount : null;
  if (maxCount !== null && maxCount < count)
    return { kind: 'too_large', maxCount, isFirst: !isLost };
  const failure = connection.explain(error);
  const isRefused = error instanceof PhmError && !error.outcomeUnknown && !isLost;
  if (isRefused) return { kind: 'refused', error: failure };
  throw failure;
}

interface CallOptions {
  readonly idempotencyKey: string;
}

async function sealedKeys(
  { client }: Connection,
  body: Parameters<typeof client.generateSealedBatch>[0],
  options: CallOptions,
  targets: SealTargets,
): Promise<KeyContent[]> {
  const keys: KeyContent[] = [];
  for await (const answer of client.generateSealedBatch(body, options)) {
    checkAnswer(answer, targets);
    keys.push({ keyId: answer.key_id, content: Buffer.from(jsonLine(answer)) });
  }
  return keys;
}

async function plainKeys(
  { client }: Connection,
  body: Parameters<typeof client.generateBatch>[0],
  options: CallOptions,
  { format, json, envName = DEFAULT_VARIABLE }: GenerateFlags,
): Promise<KeyContent[]> {
  const keys: KeyContent[] = [];
  for await (const answer of client.generateBatch(body, options)) {
    const content = json ? Buffer.from(jsonLine(answer)) : encodeKey(answer, format, envName);
    keys.push({ keyId: answer.key_id, content });
  }
  return keys;
}
