import { expect, it } from 'vitest';
import { RawFrame } from '#contract/frame.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { HeldRights } from '#domain/callers/held-rights.ts';
import { bucketOfDeployment } from '#domain/files/bucket.ts';
import { withAttachedFiles } from './attached-files.ts';

const user: Caller = { subject: 'ann', project: 'p', roles: [], chain: null };
const url = `files/${bucketOfDeployment('inner')}/x`;

function inChain(...path: string[]): Caller & { readonly chain: NonNullable<Caller['chain']> } {
  return { ...user, chain: { path, rights: new HeldRights(), report: () => undefined } };
}

function chunk(delta: unknown): RawFrame {
  return RawFrame.ofRawChunks({ choices: [{ index: 0, delta }] });
}

const attaching = chunk({ custom_content: { attachments: [{ index: 0, url }] } });

/** What comes out of the sink, in its order. */
function collect(caller: Caller, holder: Caller) {
  const out: unknown[] = [];
  const sink = withAttachedFiles(caller, holder, {
    frame: (frame) => out.push(frame),
    end: () => out.push('end'),
    fail: (error) => out.push(error),
  });
  return { out, sink };
}

it('a frame with a file, and what follows it, waits until the file can be read everywhere', async () => {
  const caller = inChain('outer');
  const told = Promise.withResolvers<void>();
  caller.chain.rights.tell(() => told.promise);
  const { out, sink } = collect(caller, inChain('outer', 'inner'));
  const [before, after] = [chunk({ content: 'a' }), chunk({ content: 'b' })];
  for (const frame of [before, attaching, after]) sink.frame(frame);
  sink.end();
  expect(out).toEqual([before]);
  told.resolve();
  await expect.poll(() => out.length).toBe(4);
  expect(out).toEqual([before, attaching, after, 'end']);
  expect(caller.chain.rights.may('READ', url)).toBe(true);
});

it('a reply goes on where other nodes cannot be told', async () => {
  const caller = inChain('outer');
  caller.chain.rights.tell(() => Promise.reject(new Error('away')));
  const { out, sink } = collect(caller, inChain('outer', 'inner'));
  sink.frame(attaching);
  sink.fail('broken');
  await expect.poll(() => out).toEqual([attaching, 'broken']);
});

it('chunks of any form pass, and give nothing', () => {
  const caller = inChain('outer');
  const { out, sink } = collect(caller, inChain('outer', 'inner'));
  const odd = [
    null,
    'x',
    { custom_content: null },
    { custom_content: 'x' },
    { custom_content: { attachments: [null, 1, { url: 1 }], stages: {} } },
  ];
  for (const delta of odd) sink.frame(chunk(delta));
  expect(out).toHaveLength(odd.length);
  expect([...caller.chain.rights.files]).toEqual([]);
});

it('is the sink itself where a user called', () => {
  const sink = { frame: () => undefined, end: () => undefined, fail: () => undefined };
  expect(withAttachedFiles(user, inChain('inner'), sink)).toBe(sink);
});
