import { isJsonObject, tryParseJson } from '#base/json.ts';
import type { BlockDelta, ContentBlock, MessagesReply } from '#contract/messages/dialect.ts';
import type { MessageEvent } from './message-event.ts';

/** The JSON answer: the events of a message folded. */
export class MessageFold {
  #message: MessagesReply | undefined;
  #block: ContentBlock | undefined;
  readonly #pieces: string[] = [];

  add(event: MessageEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#message = event.message;
        break;
      case 'content_block_start':
        this.#block = { ...event.content_block };
        break;
      case 'content_block_delta':
        this.#addDelta(event.delta);
        break;
      case 'content_block_stop':
        this.#endBlock();
        break;
      case 'message_delta': {
        const { delta, usage, parley } = event;
        if (this.#message !== undefined)
          this.#message = { ...this.#message, ...delta, usage: { ...this.#message.usage, ...usage }, parley };
        break;
      }
    }
  }

  /** Undefined before the first event. */
  get message(): MessagesReply | undefined {
    return this.#message;
  }

  #addDelta(delta: BlockDelta): void {
    if (delta.type === 'signature_delta') this.#block = { ...this.#block, signature: delta.signature } as ContentBlock;
    else if (delta.type === 'text_delta') this.#pieces.push(delta.text);
    else if (delta.type === 'thinking_delta') this.#pieces.push(delta.thinking);
    else if (delta.type === 'input_json_delta') this.#pieces.push(delta.partial_json);
  }

  #endBlock(): void {
    const text = this.#pieces.splice(0).join('');
    const block = this.#block;
    if (block === undefined) return;
    if (block.type === 'text') block.text = text;
    else if (block.type === 'thinking') block.thinking = text;
    else if (block.type === 'tool_use') block.input = toInput(text);
    this.#message?.content.push(block);
  }
}

/** A call that was cut short has no input; the stop reason says so. */
function toInput(args: string): object {
  const value = tryParseJson(args);
  return isJsonObject(value) ? value : {};
}
