import { describe, expect, it } from 'vitest';
import type { ResponseCustomContent } from '#contract/chat/chunk.ts';
import { measureEventLoopBlock } from '#test/event-loop-block.ts';
import { numberByPosition, ReplyContent } from './reply-content.ts';

const complete = (...contents: readonly object[]) => {
  const content = new ReplyContent();
  return contents.map((input) => content.completeContent(0, input as ResponseCustomContent));
};

it('numberByPosition() numbers each item of a complete message separately', () => {
  const attachments = [{ index: 1 }, { index: 1 }];
  const stages = [{ index: 3, attachments }, { index: 1 }];
  const right = [{ index: 0 }, { index: 1 }];
  const content = { attachments, stages, controls: [{ index: 0 }] } as unknown as ResponseCustomContent;
  expect(numberByPosition(content)).toEqual({
    attachments: right,
    stages: [{ index: 0, attachments: right }, { index: 1 }],
    controls: [{ index: 0 }],
  });
  const complete = { attachments: right, stages: [], state: { a: 1 } } as unknown as ResponseCustomContent;
  expect(numberByPosition(complete)).toBe(complete);
});

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
    const name = 'One';
    expect(complete({ stages: [{ index: 0, name }, { index: 1 }] }, { stages: [{ index: 1, content: 'x' }] })).toEqual([
      {
        stages: [
          { index: 0, name, status: null },
          { index: 1, name: 'Stage 2', status: null },
        ],
      },
      { stages: [{ index: 1, content: 'x', status: null }] },
    ]);
  });

  it('numbers items with a wrong index by arrival order, and keeps the parts of an item together', () => {
    const list = (...indexes: readonly number[]) => ({
      attachments: indexes.map((index) => ({ index, title: `from ${index}` })),
    });
    expect(complete(list(0, 9), list(1, 9), list(4, 1, 0)).map(({ attachments }) => attachments)).toEqual([
      [
        { index: 0, title: 'from 0' },
        { index: 1, title: 'from 9' },
      ],
      [
        { index: 2, title: 'from 1' },
        { index: 1, title: 'from 9' },
      ],
      [
        { index: 3, title: 'from 4' },
        { index: 2, title: 'from 1' },
        { index: 0, title: 'from 0' },
      ],
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
      content.completeContent(0, { stages: [{ index: 0, ...part }] } as ResponseCustomContent);
    expect(content.hasOpenStages).toBe(false);
  });

  it('closes the stages of a choice without a search through those of other choices', async () => {
    const content = new ReplyContent();
    const stages = Array.from({ length: 10_000 }, (_, index) => ({ index, name: 'One' }));
    content.completeContent(0, { stages } as ResponseCustomContent);
    const closeOthers = (): void => {
      for (let choice = 1; choice < 10_000; choice += 1) content.consumeOpenStages(choice);
    };
    expect(await measureEventLoopBlock(closeOthers)).toBeLessThan(2_000);
    expect(content.consumeOpenStages(0)).toHaveLength(10_000);
    expect(content.hasOpenStages).toBe(false);
  });

  it('returns the open stages of all choices, by choice', () => {
    const content = new ReplyContent();
    for (const choice of [0, 1, 0]) content.completeContent(choice, { stages: [{ name: 'One' }] } as ResponseCustomContent);
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
