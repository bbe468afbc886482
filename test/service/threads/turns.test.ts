import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { Turns } from '../../../src/service/threads/turns.ts';

it('handles a message that comes during long work before the next long work', async () => {
  const turns = new Turns();
  const { port1, port2 } = new MessageChannel();
  const order: string[] = [];
  const answered = new Promise<void>((resolve) => {
    port2.on('message', (text: string) => {
      order.push(text);
      resolve();
    });
  });
  const long = async (name: string) => {
    order.push(name);
    if (name === 'long 1') port1.postMessage('short');
  };
  const results = ['long 1', 'long 2', 'long 3'].map((name) => turns.run(() => long(name)));
  await Promise.all([...results, answered]);
  // A message may need a turn to arrive, but never waits for all of the work.
  assert.equal(order[0], 'long 1');
  assert.ok(order.indexOf('short') < order.indexOf('long 3'), order.join(', '));
  port1.close();
});

it('passes results and errors on, and goes on after an error', async () => {
  const turns = new Turns();
  const failed = turns.run(async () => {
    throw new Error('no');
  });
  const fine = turns.run(async () => 7);
  await assert.rejects(failed, { message: 'no' });
  assert.equal(await fine, 7);
  assert.equal(await turns.run(async () => 8), 8);
});
