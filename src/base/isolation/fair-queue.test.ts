import { expect, it } from 'vitest';
import { OwnerQuota } from './fair-queue.ts';

it('OwnerQuota bounds the concurrent work of each owner separately and frees the slot of finished work', async () => {
  const error = new Error('no slot is free');
  const slots = new OwnerQuota(2, () => error);
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<string>();
  const running = [slots.run('ann', () => first.promise), slots.run('ann', () => second.promise)];
  await expect(slots.run('ann', async () => 'third')).rejects.toBe(error);
  expect(await slots.run('bob', async () => 'his')).toBe('his');
  first.resolve('one');
  second.reject(new Error('two'));
  expect(await Promise.allSettled(running)).toMatchObject([{ value: 'one' }, { reason: { message: 'two' } }]);
  expect(await Promise.all(['a', 'b'].map((each) => slots.run('ann', async () => each)))).toEqual(['a', 'b']);
});
