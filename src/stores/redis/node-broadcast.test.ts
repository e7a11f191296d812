import { expect, it } from 'vitest';
import { RedisNodeBroadcast } from './node-broadcast.ts';
import type { RedisLink } from './redis-link.ts';

it('RedisNodeBroadcast delivers a notice once, even if a new subscriber reads it from the store first', async () => {
  const said = JSON.stringify({ from: 'other', id: 1, topic: 'configuration', text: 'first' });
  let take: (text: string) => void = () => undefined;
  let begin: () => void = () => undefined;
  const link = {
    node: 'own',
    subscribe: (channel: string, listener: typeof take) => {
      if (channel === 'parley:notices') take = listener;
    },
    onSubscribed: (listener: typeof begin) => {
      begin = listener;
    },
    onReady: () => undefined,
    run: () => Promise.resolve(said),
    deliver: (_channel: string, text: string) => take(text),
  };
  const heard: string[] = [];
  new RedisNodeBroadcast(link as unknown as RedisLink).onNotice(({ text }) => heard.push(text));
  begin();
  await Promise.resolve();
  expect(heard).toEqual([]);
  take(said);
  expect(heard).toEqual(['first']);
  begin();
  await Promise.resolve();
  expect(heard).toEqual(['first']);
});
