import '#test/same-cases.ts';
import { array, assert, constantFrom, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toLatin1 } from '#base/text/bytes.ts';
import { DeltaRun } from './event-readers.ts';

const event = (text: string, padding = '', index = 0): string =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":"${text}"}${padding}}\n\n`;

function createLearnedRun(first = event('x'), type = 'text_delta'): DeltaRun {
  const run = new DeltaRun();
  expect(run.learnPrefix(first, type)).toBe(true);
  return run;
}

function read(run: DeltaRun, events: string, from = 0) {
  const texts: string[] = [];
  return { end: run.findRunEnd(events, from, texts), texts, textBytes: run.textBytes };
}

describe('DeltaRun', () => {
  it('finds no run before it has learned a pattern', () => {
    expect(read(new DeltaRun(), event('a'))).toEqual({ end: 0, texts: [], textBytes: 0 });
  });

  it('finds the texts of a run and its end', () => {
    const run = event('a') + event('b\\"\\\\', '   ') + event('');
    expect(read(createLearnedRun(), `${run}event: ping\n\n`)).toEqual({
      end: run.length,
      texts: ['a', 'b\\"\\\\', ''],
      textBytes: 6,
    });
    expect(read(createLearnedRun(), `xx${run}`, 2)).toMatchObject({ end: run.length + 2 });
  });

  it('finds every text that JSON can hold', () => {
    const run = createLearnedRun();
    assert(
      property(array(constantFrom('"', '\\', '\n', '}', ' ', 'a', 'ä', '😀', '\ud83d')), (chars) => {
        const json = toLatin1(JSON.stringify(chars.join(''))).slice(1, -1);
        expect(read(run, event(json))).toMatchObject({ end: event(json).length, texts: [json] });
      }),
    );
  });

  it.each([
    event('a', '', 1),
    event('a","more":"b'),
    event('a').replace('}}', '},"more":1}'),
    event('a').replace('text_delta', 'other_delta'),
    event('a').replace('\n\n', '\ndata: more\n\n'),
    event('a\nb'),
    event('a\n\nb'),
    event('a').slice(0, -1),
    event('a').slice(0, -4),
    `: comment\n${event('a')}`,
  ])('ends the run at %j', (laterEvent) => {
    expect(read(createLearnedRun(), event('a') + laterEvent).end).toBe(event('a').length);
  });

  it('learns thoughts and arguments too, in the format of their upstream', () => {
    const thought = 'data:{"delta":{"type":"thinking_delta","thinking":"hm"}}\n\n';
    expect(read(createLearnedRun(thought, 'thinking_delta'), thought)).toMatchObject({ texts: ['hm'] });
    const json = 'data: {"index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":"}}\n\n';
    expect(read(createLearnedRun(json, 'input_json_delta'), json)).toMatchObject({ texts: ['{\\"a\\":'] });
  });

  it.each([
    [event('x'), 'signature_delta'],
    [event('x'), undefined],
    [event('x'), 'thinking_delta'],
    ['data: {"delta":{"text":"x","type":"text_delta"}}\n\n', 'text_delta'],
    ['data: {"delta":{"type":"text_delta","text":"x"},"index":0}\n\n', 'text_delta'],
    ['data: {"delta":{"citations":[{"text":"y"}],"text":"x"}}\n\n', 'text_delta'],
  ])('does not learn %j as %j', (laterEvent, type) => {
    expect(new DeltaRun().learnPrefix(laterEvent, type)).toBe(false);
  });
});
