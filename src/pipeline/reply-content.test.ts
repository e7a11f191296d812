import { describe, expect, it } from 'vitest';
import type { ResponseCustomContent } from '#contract/chat/chunk.ts';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { ReplyContent } from './reply-content.ts';

const complete = (...contents: readonly object[]) => {
  const content = new ReplyContent();
  return contents.map((input) => content.toComplete(0, input as ResponseCustomContent));
};

describe('ReplyContent', () => {
  it('numbers items without an index by arrival order', () => {
    const stages = [
      { name: 'Looks', attachments: [{ title: 'x' }, { title: 'y', index: -1 }] },
      { name: 'Says', index: 1 },
    ];
    const input = { stages, attachments: [{ title: 'z' }], controls: [{ label: 'Go' }], state: { a: 1 } };
    expect(complete(input, { attachments: [{ title: 'last', index: '7' }] })).toEqual([
      {
        stages: [
          {
            index: 0,
            name: 'Looks',
            status: null,
            attachments: [
              { index: 0, title: 'x' },
              { index: 1, title: 'y' },
            ],
          },
          { index: 1, name: 'Says', status: null },
        ],
        attachments: [{ index: 0, title: 'z' }],
        controls: [{ index: 0, label: 'Go' }],
        state: { a: 1 },
      },
      { attachments: [{ index: 1, title: 'last' }] },
    ]);
  });

  it('names a stage without a name once and adds a status to each of its chunks', () => {
    expect(complete({ stages: [{ index: 2 }] }, { stages: [{ index: 2, content: 'x' }] })).toEqual([
      { stages: [{ index: 2, name: 'Stage 3', status: null }] },
      { stages: [{ index: 2, content: 'x', status: null }] },
    ]);
  });

  it('appends a chunk without an index or a name to the last stage', () => {
    expect(complete({ stages: [{ name: 'One' }] }, { stages: [{ content: 'x' }] })[1]).toEqual({
      stages: [{ index: 0, content: 'x', status: null }],
    });
  });

  it('uses the URL of an attachment with data as its `reference_url` if it has none', () => {
    const attachments = [
      { index: 0, data: 'x', url: 'https://x.example/1' },
      { index: 1, data: 'x', url: 'https://x.example/1', reference_url: 'https://x.example/2' },
      { index: 2, url: 'https://x.example/3' },
    ];
    expect(complete({ attachments })[0]?.attachments).toEqual([
      { index: 0, data: 'x', reference_url: 'https://x.example/1' },
      { index: 1, data: 'x', reference_url: 'https://x.example/2' },
      attachments[2],
    ]);
  });

  it('does not reopen a stage that has ended', () => {
    const content = new ReplyContent();
    for (const part of [{ name: 'One' }, { status: 'failed' }, { content: 'late' }])
      content.toComplete(0, { stages: [{ index: 0, ...part }] } as ResponseCustomContent);
    expect(content.hasOpenStages).toBe(false);
  });

  it('closes the stages of a choice without a search through those of other choices', async () => {
    const content = new ReplyContent();
    const stages = Array.from({ length: 10_000 }, (_, index) => ({ index, name: 'One' }));
    content.toComplete(0, { stages } as ResponseCustomContent);
    const closeOthers = (): void => {
      for (let choice = 1; choice < 10_000; choice += 1) content.consumeOpenStages(choice);
    };
    expect(await measureEventLoopBlock(closeOthers)).toBeLessThan(2_000);
    expect(content.consumeOpenStages(0)).toHaveLength(10_000);
    expect(content.hasOpenStages).toBe(false);
  });

  it('returns the open stages of all choices, by choice', () => {
    const content = new ReplyContent();
    for (const choice of [0, 1, 0]) content.toComplete(choice, { stages: [{ name: 'One' }] } as ResponseCustomContent);
    expect(content.consumeOpenStages()).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
    ]);
    expect(content.consumeOpenStages()).toEqual([]);
  });

  it('returns complete content unchanged', () => {
    const content = { stages: [{ index: 0, name: 'One', status: null }], controls: [{ index: 0, label: 'Go' }] };
    expect(complete(content)[0]).toBe(content);
  });
});
