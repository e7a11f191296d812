import { describe, expect, it } from 'vitest';
import { RawFrame } from '#contract/chat/frame.ts';
import type { Caller } from '#domain/callers/caller.ts';
import { HeldRights } from '#domain/callers/held-rights.ts';
import type { Target } from '#domain/calls/call.ts';
import { toDeploymentBucket } from '#domain/files/bucket.ts';
import type { CallAccount } from './call-account.ts';
import { ReplyFiles } from './reply-files.ts';

const user: Caller = { subject: 'ann', project: 'p', roles: [], chain: null };
const url = `files/${toDeploymentBucket('inner')}/x`;

function inChain(...path: string[]): Caller & { readonly chain: NonNullable<Caller['chain']> } {
  return { ...user, chain: { path, rights: new HeldRights(), report: () => undefined } };
}

function chunk(delta: unknown): RawFrame {
  return RawFrame.ofRawChunks({ choices: [{ index: 0, delta }] });
}

const attaching = chunk({ custom_content: { attachments: [{ index: 0, url }] } });

/** Collects the output of the step in order, and the number of references that it removed. */
function collect(caller: Caller, holder: Caller) {
  const output: unknown[] = [];
  const removed: number[] = [];
  const target = { call: { caller }, deployment: {} } as Target;
  const step = new ReplyFiles(
    { target, account: { caller: holder } as CallAccount },
    { push: (frame) => output.push(frame), end: () => output.push('end'), fail: (error) => output.push(error) },
    (_, count) => removed.push(count),
  );
  return { output, removed, step };
}

describe('ReplyFiles', () => {
  it('delays a frame with a file and all later frames until every node has the right', async () => {
    const caller = inChain('outer');
    const stored = Promise.withResolvers<void>();
    caller.chain.rights.onChange(() => stored.promise);
    const { output, step } = collect(caller, inChain('outer', 'inner'));
    const [before, after] = [chunk({ content: 'a' }), chunk({ content: 'b' })];
    for (const frame of [before, attaching, after, attaching]) step.push(frame);
    step.end();
    expect(output).toEqual([before]);
    stored.resolve();
    await expect.poll(() => output.length).toBe(5);
    expect(output).toEqual([before, attaching, after, attaching, 'end']);
    expect(caller.chain.rights.allows('READ', url)).toBe(true);
  });

  it('pauses its source while a right is stored, unless the reader pauses it longer', async () => {
    const caller = inChain('outer');
    let stored = Promise.withResolvers<void>();
    caller.chain.rights.onChange(() => stored.promise);
    const { output, step } = collect(caller, inChain('outer', 'inner'));
    const source: string[] = [];
    step.follow({
      pause: () => source.push('pause'),
      resume: () => source.push('resume'),
      cancel: () => source.push('cancel'),
    });
    step.push(attaching);
    step.pause();
    step.resume();
    expect(source.includes('resume')).toBe(false);
    stored.resolve();
    await expect.poll(() => output).toEqual([attaching]);
    expect(source.at(-1)).toBe('resume');
    stored = Promise.withResolvers<void>();
    const url = `files/${toDeploymentBucket('inner')}/y`;
    step.push(chunk({ custom_content: { attachments: [{ index: 1, url }] } }));
    step.pause();
    stored.resolve();
    await expect.poll(() => output).toHaveLength(2);
    expect(source.at(-1)).toBe('pause');
    step.cancel();
    expect(source.at(-1)).toBe('cancel');
  });

  it('continues a reply if other nodes cannot be reached', async () => {
    const caller = inChain('outer');
    caller.chain.rights.onChange(() => Promise.reject(new Error('away')));
    const { output, step } = collect(caller, inChain('outer', 'inner'));
    step.push(attaching);
    step.fail('broken');
    await expect.poll(() => output).toEqual([attaching, 'broken']);
  });

  it('passes chunks of any form without granting rights for them', () => {
    const caller = inChain('outer');
    const { output, step } = collect(caller, inChain('outer', 'inner'));
    const odd = [
      null,
      'x',
      { custom_content: null },
      { custom_content: 'x' },
      { custom_content: { attachments: [null, 1, { url: 1 }], stages: {} } },
      { custom_content: { attachments: {}, stages: [null, { attachments: 1 }] } },
    ];
    for (const delta of odd) step.push(chunk(delta));
    expect(output).toHaveLength(odd.length);
    expect([...caller.chain.rights.assistantFiles]).toEqual([]);
  });

  it('passes frames through verbatim if it does not change them', () => {
    const { output, removed, step } = collect(user, inChain('inner'));
    const frames = [attaching, chunk({ content: 'a' }), RawFrame.ofText('data: {}\n\n', 1)];
    for (const frame of frames) step.push(frame);
    step.end();
    expect(output.slice(0, 3).every((frame, at) => frame === frames[at])).toBe(true);
    expect(removed).toEqual([]);
  });

  it('reports the total of removed references once', () => {
    const { output, removed, step } = collect(user, inChain('inner'));
    const closed = [0, 1].map((index) => ({ index, url: 'files/x/y', reference_url: 'files/x/z' }));
    step.push(chunk({ content: 'a', custom_content: { attachments: closed } }));
    step.push(chunk({ custom_content: { attachments: [{ index: 0, data: 'b', reference_url: 'files/x/z' }] } }));
    step.end();
    const deltas = output.slice(0, 2).map((frame) => (frame as RawFrame).chunks[0]?.choices[0]?.delta);
    expect(deltas).toEqual([
      { content: 'a', custom_content: { attachments: [] } },
      { custom_content: { attachments: [{ index: 0, data: 'b' }] } },
    ]);
    expect(removed).toEqual([5]);
  });

  it('keeps references of up to 1,000 fields and removes those of further fields', () => {
    const { output, removed, step } = collect(user, inChain('inner'));
    const attachments = Array.from({ length: 1200 }, (_, index) => ({ index, url: 'https://example.com' }));
    step.push(chunk({ custom_content: { attachments } }));
    step.end();
    const visible = JSON.stringify((output[0] as RawFrame).chunks).match(/example/g);
    expect([visible?.length, removed]).toEqual([1000, [200]]);
  });

  it('bounds the characters that it parses for the deltas of one reference', () => {
    const { output, removed, step } = collect(user, inChain('inner'));
    step.push(chunk({ custom_content: { attachments: [{ index: 0, url: `https://x.test/${'a'.repeat(8_000)}` }] } }));
    const empty = chunk({ custom_content: { attachments: Array.from({ length: 20_000 }, () => ({ index: 0, url: '' })) } });
    step.push(empty);
    step.push(chunk({ custom_content: { attachments: Array.from({ length: 1_000 }, () => ({ index: 0, url: 'b' })) } }));
    step.end();
    expect(output[1]).toBe(empty);
    expect(removed[0]).toBeGreaterThan(400);
  });
});
