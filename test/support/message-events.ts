import type { ContentBlock, MessagesEvent, MessagesReply } from '#contract/messages/dialect.ts';

type Event = MessagesEvent | { type: 'ping'; parley?: unknown };

/** Parses the events of a stream. Each event must be named after its type. */
export function readMessageEvents(text: string): MessagesEvent[] {
  const blocks = text.split('\n\n');
  if (blocks.pop() !== '') throw new Error('the stream ends inside an event');
  return blocks
    .filter((block) => !block.startsWith(':'))
    .map((block) => {
      const [, name = '', data = ''] = /^event: (\w+)\ndata: (.*)$/s.exec(block) ?? [];
      const event = JSON.parse(data) as MessagesEvent;
      if (event.type !== name) throw new Error(`an event of type ${event.type} is named ${name}`);
      return event;
    });
}

const deltaTypes: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
};

/** Returns violations of the event order of the dialect. */
export function findGrammarErrors(events: readonly Event[]): string[] {
  const errors: string[] = [];
  const claim = (holds: boolean, error: string): void => void (holds || errors.push(error));
  let phase: 'before' | 'blocks' | 'totals' | 'after' = 'before';
  let open: { index: number; type: string } | undefined;
  let next = 0;
  for (const event of events) {
    claim(phase !== 'after', `${event.type} after the end`);
    switch (event.type) {
      case 'message_start':
        claim(phase === 'before', 'a second message_start');
        claim(event.message.content.length === 0 && event.message.role === 'assistant', 'a start with content or without a role');
        phase = 'blocks';
        break;
      case 'content_block_start':
        claim(phase === 'blocks' && open === undefined, 'a block opened at the wrong place');
        claim(event.index === next, `block ${event.index} where ${next} belongs`);
        open = { index: event.index, type: event.content_block.type };
        next += 1;
        break;
      case 'content_block_delta':
        claim(open?.index === event.index, `a delta of block ${event.index}, which is not open`);
        claim(deltaTypes[open?.type ?? '']?.includes(event.delta.type) ?? false, `${event.delta.type} in ${open?.type}`);
        break;
      case 'content_block_stop':
        claim(open?.index === event.index, `the end of block ${event.index}, which is not open`);
        open = undefined;
        break;
      case 'message_delta':
        claim(phase === 'blocks' && open === undefined, 'message_delta at the wrong place');
        claim(event.delta.stop_reason !== null, 'no stop reason');
        phase = 'totals';
        break;
      case 'message_stop':
        claim(phase === 'totals', 'message_stop without message_delta');
        phase = 'after';
        break;
      case 'ping':
        claim(phase !== 'before', 'ping ahead of message_start');
        break;
      default:
        errors.push(`an event ${event.type}`);
    }
  }
  claim(phase === 'after', 'no end');
  return errors;
}

/** Builds the content blocks of the events. The input of a tool is the JSON text of its deltas. */
export function buildBlocks(events: readonly Event[]): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  for (const event of events) {
    if (event.type === 'content_block_start') blocks.push({ ...event.content_block });
    if (event.type !== 'content_block_delta') continue;
    const block = blocks[event.index] as { [key: string]: unknown };
    const { delta } = event;
    if (delta.type === 'text_delta') block.text = `${block.text}${delta.text}`;
    if (delta.type === 'thinking_delta') block.thinking = `${block.thinking}${delta.thinking}`;
    if (delta.type === 'signature_delta') block.signature = delta.signature;
    if (delta.type === 'input_json_delta') block.json = `${block.json ?? ''}${delta.partial_json}`;
  }
  return blocks;
}

export function getText({ content }: Pick<MessagesReply, 'content'>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}
