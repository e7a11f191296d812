import { expect, it } from 'vitest';
import { RedisNodeBroadcast } from './node-broadcast.ts';
import type { RedisLink } from './redis-link.ts';

it('RedisNodeBroadcast delivers a notice once, even if a new subscriber reads it from the store first', async () => {
  const message = JSON.stringify({ from: 'other', id: 1, topic: 'configuration', text: 'first' });
  let receive: (text: string) => void = () => undefined;
  let notifySubscribed: () => void = () => undefined;
  const link = {
    node: 'own',
    subscribe: (channel: string, listener: typeof receive) => {
      if (channel === 'parley:notices') receive = listener;
    },
    onSubscribed: (listener: typeof notifySubscribed) => {
      notifySubscribed = listener;
    },
    onReady: () => undefined,
    run: () => Promise.resolve(message),
    deliver: (_channel: string, text: string) => receive(text),
  };
  const received: string[] = [];
  new RedisNodeBroadcast(link as unknown as RedisLink).onNotice(({ text }) => received.push(text));
  notifySubscribed();
  await Promise.resolve();
  expect(received).toEqual([]);
  receive(message);
  expect(received).toEqual(['first']);
  notifySubscribed();
  await Promise.resolve();
  expect(received).toEqual(['first']);
});
