/** The record of keys: durable before it counts, and of one link alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Link } from '../../src/psk/link.ts';
import { PskRecord, withPlan } from '../../src/psk/record.ts';
import type { JournalFile } from '../../src/store/journal.ts';

/** A file in memory, which can be full. */
class Disk implements JournalFile {
  content = '';
  isFull = false;

  async read(): Promise<string> {
    return this.content;
  }

  async append(): Promise<void> {
    throw new Error('the record is replaced as a whole');
  }

  async replace(text: string): Promise<void> {
    if (this.isFull) throw new Error('ENOSPC: no space left on device, write');
    this.content = text;
  }
}

const PLAN = { id: 'id', stage: 'agreed', tries: 1 } as const;

describe('the record of keys', () => {
  it('is there again after a restart, for the same link only', async () => {
    const disk = new Disk();
    const record = await PskRecord.open(disk, 'link');
    const changes = [
      record.update((state) => ({ ...state, plans: withPlan(state.plans, 7, PLAN) })),
      record.update((state) => ({ ...state, current: { epoch: 6, id: 'c', isConfirmed: true } })),
    ];
    await Promise.all(changes);
    const again = await PskRecord.open(disk, 'link');
    assert.deepEqual(again.state, record.state);
    assert.deepEqual([...again.state.plans], [[7, PLAN]]);
    assert.equal(again.state.current?.id, 'c');
    const other = await PskRecord.open(disk, 'other link');
    assert.deepEqual([other.state.current, other.state.plans.size], [null, 0]);
  });

  it('keeps its state if the disk does not take a change', async () => {
    const disk = new Disk();
    const record = await PskRecord.open(disk, 'link');
    disk.isFull = true;
    const change = () =>
      record.update((state) => ({ ...state, plans: withPlan(state.plans, 7, PLAN) }));
    await assert.rejects(change(), { name: 'JournalError' });
    assert.equal(record.state.plans.size, 0);
    disk.isFull = false;
    await change();
    assert.equal(record.state.plans.size, 1);
  });

  it('is refused if it is damaged', async () => {
    const disk = new Disk();
    disk.content = '{"link":"link","cur';
    await assert.rejects(PskRecord.open(disk, 'link'), {
      name: 'JournalError',
      message: 'the record of keys is damaged: move the file psk away',
    });
  });
});

describe('a link', () => {
  const party = (name: string) => ({ recipient: name, thumbprint: `thumbprint of ${name}` });
  const link = (own: string, peer: string, origins = ['one', 'two'], intervalMs = 300_000) =>
    new Link({ own: party(own), peer: party(peer), origins, intervalMs });

  it('has the same contexts at both ends, one of which leads', () => {
    const [one, other] = [link('a', 'b'), link('b', 'a', ['two', 'one'])];
    assert.equal(one.id, other.id);
    assert.equal(one.contextOf(5), other.contextOf(5));
    assert.deepEqual([one.isLeader, other.isLeader], [true, false]);
    assert.equal(Buffer.from(one.contextOf(5), 'base64').length, 32);
  });

  it('has others for each epoch, pair, service and interval', () => {
    const contexts = [
      link('a', 'b').id,
      link('a', 'b').contextOf(5),
      link('a', 'b').contextOf(6),
      link('a', 'c').contextOf(5),
      link('a', 'b', ['one']).contextOf(5),
      link('a', 'b', ['one', 'two'], 600_000).contextOf(5),
    ];
    assert.equal(new Set(contexts).size, contexts.length);
  });
});
