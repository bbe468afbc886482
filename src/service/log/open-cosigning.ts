/** Prepares the witnesses of a policy. */
import type { Policy, VerifierKey } from '#tlog';
import { monotonicMs, SECOND_MS, systemClock } from '../../clock.ts';
import { openCheckpoint, type TileSource } from '../../log/index.ts';
import { isConsistent } from './consistency.ts';
import { Cosigning, hasQuorum, type WitnessedHead } from './cosigning.ts';
import type { SignedHead } from './heads.ts';
import type { LogNotice } from './notices.ts';
import type { Publisher } from './publisher.ts';
import { Witness } from './witness.ts';

interface CosigningSetup {
  readonly tiles: TileSource;
  readonly origin: string;
  readonly publisher: Pick<Publisher, 'published' | 'examine'>;
  readonly verifierKeys: readonly VerifierKey[];
  readonly stored: () => Promise<{ readonly witnessed: string | null }>;
  readonly save: (head: SignedHead) => Promise<void>;
  readonly notify: (notice: LogNotice) => void;
}

/** Returns the rounds of a policy. Its witnesses MUST have addresses. */
export function openCosigning(policy: Policy, setup: CosigningSetup): Cosigning {
  const { tiles, stored, save, notify, origin, publisher } = setup;
  const witnesses = policy.witnesses.flatMap(({ name, key, url }) =>
    url === null
      ? []
      : new Witness({
          name,
          key,
          url,
          tiles,
          origin,
          examine: (note) => publisher.examine(note),
          onChange: (witness, reason) => notify({ kind: 'witness', witness, reason }),
          monotonicMs,
        }),
  );
  return new Cosigning({
    policy,
    witnesses,
    stored: async () => {
      const { witnessed } = await stored();
      return witnessed === null ? null : await openWitnessed(witnessed, policy, setup);
    },
    save,
    nowMs: systemClock.nowMs,
  });
}

/** Returns a cosigned head from the database; null if it lacks the quorum, or the published tree does not continue it. */
async function openWitnessed(
  note: string,
  policy: Policy,
  { tiles, publisher, verifierKeys }: CosigningSetup,
): Promise<WitnessedHead | null> {
  const { published } = publisher;
  const signed = openCosigned(note, policy, verifierKeys);
  if (!published || !signed || signed.size > published.size) return null;
  return (await isConsistent(tiles, signed, published)) ? signed : null;
}

function openCosigned(
  note: string,
  policy: Policy,
  verifierKeys: readonly VerifierKey[],
): WitnessedHead | null {
  try {
    const keys = policy.witnesses.map(({ key }) => key);
    const { checkpoint, signedBy } = openCheckpoint(note, [...verifierKeys, ...keys]);
    const names = policy.witnesses
      .filter(({ key }) => signedBy.some((signer) => signer.text === key.text))
      .map(({ name }) => name);
    if (!hasQuorum(policy, names)) return null;
    const times = signedBy
      .filter(({ text }) => keys.some((key) => key.text === text))
      .map(({ timestamp }) => timestamp ?? 0);
    const { size, root } = checkpoint;
    return { size, root, note, atMs: Math.max(...times) * SECOND_MS };
  } catch {
    return null;
  }
}
