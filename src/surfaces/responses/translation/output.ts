import { CallArguments } from '#contract/chat/call-arguments.ts';
import { toFunctionCallId } from '#contract/chat/function-calling.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { UnnumberedEvent } from '#contract/responses/events.ts';
import type {
  CustomCallItem,
  FunctionCallItem,
  ItemStatus,
  OutputItem,
  OutputMessage,
  OutputText,
  ReasoningItem,
  RefusalPart,
  UrlCitation,
} from '#contract/responses/output-items.ts';
import { type OfferedTools, toInput } from './offered-tools.ts';
import type { HiddenContent } from './sealed-thoughts.ts';
import type { Piece } from './to-pieces.ts';

const maxItems = 10_000;

export interface OutputOptions {
  /** Key for item IDs, unique to the response. */
  readonly key: string;
  readonly tools: OfferedTools;
  /** Seals reasoning for the next turn. */
  readonly seal: (thoughts: HiddenContent) => string;
  /** Whether the client receives sealed content. Otherwise, it is only stored. */
  readonly showsSealed: boolean;
  /** Whether the response can be read later. */
  readonly shouldStore: boolean;
}

/** Position of a content part in the output, with the names of event fields. */
export interface TextPosition {
  readonly item_id: string;
  readonly output_index: number;
  readonly content_index: number;
}

type CallItem = FunctionCallItem | CustomCallItem;

interface OpenMessage {
  readonly item: OutputMessage;
  readonly outputIndex: number;
  part: OutputText | RefusalPart | undefined;
}

interface OpenThought {
  readonly item: ReasoningItem;
  readonly outputIndex: number;
  text: string;
}

interface OpenCall {
  readonly item: CallItem;
  readonly outputIndex: number;
  readonly args: CallArguments;
  text: string;
}

/** Output of a response in progress. Opens, fills, and closes each item, and emits the corresponding events. */
export class Output {
  readonly items: OutputItem[] = [];
  readonly #options: OutputOptions;
  #message: OpenMessage | undefined;
  #thought: OpenThought | undefined;
  readonly #calls = new Map<number, OpenCall>();
  readonly #closedCalls = new Set<number>();
  #suppressedCall: string | undefined;
  /** Vendor signatures of calls, by call ID. */
  #callSignatures: Record<string, unknown> | undefined;
  /** Sealed content that is not visible, by item ID. */
  readonly #hidden = new Map<string, string>();
  #events: UnnumberedEvent[] = [];

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** Whether the arguments of a call are incomplete. */
  get hasIncompleteCall(): boolean {
    return [...this.#calls.values()].some(({ args }) => !args.isEmpty && !args.isComplete);
  }

  /** Name of a call that was suppressed because `tool_choice` does not allow its tool. */
  get suppressedCall(): string | undefined {
    return this.#suppressedCall;
  }

  /** Vendor signatures of calls, by call ID. Undefined if there are none. */
  get callSignatures(): Readonly<Record<string, unknown>> | undefined {
    return this.#callSignatures;
  }

  /** Items for the next turn, including hidden sealed content. */
  get storedItems(): readonly OutputItem[] {
    return this.items.map((item) => {
      const encrypted_content = this.#hidden.get(item.id);
      return encrypted_content === undefined || item.type !== 'reasoning' ? item : { ...item, encrypted_content };
    });
  }

  /** Returns the events since the previous call. */
  drainEvents(): readonly UnnumberedEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  add(piece: Piece): void {
    switch (piece.kind) {
      case 'text':
      case 'refusal':
        this.#appendText(piece.kind, piece.text);
        return;
      case 'thought':
        this.#addThought(piece);
        return;
      case 'call':
        this.#addCall(piece);
    }
  }

  /** Adds citations to the current text. Does nothing without text. */
  cite(citations: readonly UrlCitation[]): void {
    const open = this.#message;
    if (open?.part?.type !== 'output_text') return;
    for (const annotation of citations) {
      const annotation_index = open.part.annotations.push(annotation) - 1;
      this.emit({ type: 'response.output_text.annotation.added', ...toContentPosition(open), annotation_index, annotation });
    }
  }

  /** Position of the current text. Undefined if other events are needed first. */
  get openText(): TextPosition | undefined {
    const open = this.#message;
    return open?.part?.type === 'output_text' ? toContentPosition(open) : undefined;
  }

  /** Appends to the current text without an event. The caller sends the events. */
  addText(text: string): void {
    if (this.#message?.part?.type === 'output_text') this.#message.part.text += text;
  }

  /** Current text. */
  get text(): string {
    return this.#message?.part?.type === 'output_text' ? this.#message.part.text : '';
  }

  /** Opens an item whose events the caller emits. `done` closes it. */
  open<Item extends OutputItem>(item: Item): { readonly outputIndex: number; readonly done: (done: Item) => void } {
    const outputIndex = this.#push(item);
    return { outputIndex, done: (done) => this.#done(outputIndex, done) };
  }

  /** Stores the vendor signature of a call. `id` is the call ID in the next turn. */
  sign(id: string, signature: unknown): void {
    this.#callSignatures ??= Object.create(null) as Record<string, unknown>;
    this.#callSignatures[id] = signature;
  }

  emit(event: UnnumberedEvent): void {
    this.#events.push(event);
  }

  /** Adds a complete item. */
  put(item: OutputItem): void {
    this.#done(this.#push(item, item), item);
  }

  /** Adds an item with sealed content. The client must return it with the next request. */
  putSealed(encrypted_content: string): void {
    this.put({ type: 'reasoning', id: this.newId('rs'), summary: [], encrypted_content });
  }

  /** Closes the open items with this status. Calls with complete arguments are always closed as completed. */
  close(status: ItemStatus = 'completed'): void {
    this.#closeThought(status);
    this.#closeMessage(status);
    this.#closeCalls(status);
  }

  newId(prefix: string): string {
    return `${prefix}_${this.#options.key}${this.items.length.toString(16).padStart(4, '0')}`;
  }

  #appendText(kind: 'text' | 'refusal', text: string): void {
    this.#closeThought();
    this.#closeCalls();
    const message = this.#message ?? this.#openMessage();
    const type = kind === 'text' ? 'output_text' : 'refusal';
    if (message.part?.type !== type) {
      this.#closePart(message);
      message.part = type === 'refusal' ? { type, refusal: '' } : { type, text: '', annotations: [], logprobs: [] };
      message.item.content.push(message.part);
      this.emit({ type: 'response.content_part.added', ...toContentPosition(message), part: structuredClone(message.part) });
    }
    const position = toContentPosition(message);
    if (message.part.type === 'refusal') {
      message.part.refusal += text;
      this.emit({ type: 'response.refusal.delta', ...position, delta: text });
    } else {
      message.part.text += text;
      this.emit({ type: 'response.output_text.delta', ...position, delta: text, logprobs: [] });
    }
  }

  #openMessage(): OpenMessage {
    const item: OutputMessage = { type: 'message', id: this.newId('msg'), status: 'in_progress', role: 'assistant', content: [] };
    this.#message = { item, outputIndex: this.#push(item), part: undefined };
    return this.#message;
  }

  #closePart(message: OpenMessage): void {
    const { part } = message;
    if (part === undefined) return;
    const position = toContentPosition(message);
    if (part.type === 'refusal') this.emit({ type: 'response.refusal.done', ...position, refusal: part.refusal });
    else this.emit({ type: 'response.output_text.done', ...position, text: part.text, logprobs: [] });
    this.emit({ type: 'response.content_part.done', ...position, part });
  }

  #closeMessage(status: ItemStatus = 'completed'): void {
    const message = this.#message;
    if (message === undefined) return;
    this.#message = undefined;
    this.#closePart(message);
    message.item.status = status;
    this.#done(message.outputIndex, message.item);
  }

  /** Adds reasoning. A signature covers the complete block, so later reasoning belongs to another item. */
  #addThought({ text, block }: Piece & { kind: 'thought' }): void {
    this.#closeMessage();
    this.#closeCalls();
    if (block?.type === 'redacted_thinking') this.#closeThought();
    const thought = this.#thought ?? this.#openThought();
    const isRepeated = block !== undefined && text === thought.text;
    if (text !== '' && !isRepeated) {
      const position = toSummaryPosition(thought);
      if (thought.text === '')
        this.emit({ type: 'response.reasoning_summary_part.added', ...position, part: { type: 'summary_text', text: '' } });
      thought.text += text;
      this.emit({ type: 'response.reasoning_summary_text.delta', ...position, delta: text });
    }
    if (block !== undefined) this.#closeThought('completed', { thinking_blocks: [block] });
  }

  #openThought(): OpenThought {
    const item: ReasoningItem = { type: 'reasoning', id: this.newId('rs'), status: 'in_progress', summary: [] };
    this.#thought = { item, outputIndex: this.#push(item), text: '' };
    return this.#thought;
  }

  #closeThought(status: ItemStatus = 'completed', thoughts?: HiddenContent): void {
    const thought = this.#thought;
    if (thought === undefined) return;
    this.#thought = undefined;
    const { item, text } = thought;
    if (text !== '') {
      const position = toSummaryPosition(thought);
      const part = { type: 'summary_text', text } as const;
      item.summary.push(part);
      this.emit({ type: 'response.reasoning_summary_text.done', ...position, text });
      this.emit({ type: 'response.reasoning_summary_part.done', ...position, part: { ...part } });
    }
    item.status = status;
    if (status === 'completed') {
      const { seal, showsSealed, shouldStore } = this.#options;
      const content = thoughts ?? { reasoning_content: text };
      if (showsSealed) item.encrypted_content = seal(content);
      else if (shouldStore) this.#hidden.set(item.id, seal(content));
    }
    this.#done(thought.outputIndex, item);
  }

  #addCall(piece: Piece & { kind: 'call' }): void {
    const { index } = piece;
    if (this.#closedCalls.has(index)) return;
    this.#closeThought();
    this.#closeMessage();
    const open = this.#calls.get(index) ?? this.#openCall(piece);
    if (open === undefined) return;
    if (piece.signature !== undefined) this.sign(open.item.call_id, piece.signature);
    this.#fill(open, piece.text);
  }

  /** Returns undefined for a call that `allowed_tools` does not allow. */
  #openCall({ index, id, name = '', isFunctionCall }: Piece & { kind: 'call' }): OpenCall | undefined {
    if (!this.#options.tools.isAllowed(name)) {
      this.#closedCalls.add(index);
      this.#suppressedCall = name;
      return undefined;
    }
    this.#closeCompleteCalls();
    const { kind, name: originalName, namespace } = this.#options.tools.getTool(name);
    const { key } = this.#options;
    // A `function_call` in the deprecated form has no ID.
    const call_id = id ?? (isFunctionCall ? toFunctionCallId(key) : `call_${key}${index}`);
    const toolName = { name: originalName, ...(namespace !== undefined && { namespace }) };
    const item: CallItem =
      kind === 'custom'
        ? { type: 'custom_tool_call', id: this.newId('ctc'), call_id, ...toolName, input: '', status: 'in_progress' }
        : { type: 'function_call', id: this.newId('fc'), call_id, ...toolName, arguments: '', status: 'in_progress' };
    const open: OpenCall = { item, outputIndex: this.#push(item), args: new CallArguments(), text: '' };
    this.#calls.set(index, open);
    return open;
  }

  /** Appends arguments. Emits no deltas for a custom tool, because its input is known only when the arguments are complete. */
  #fill(open: OpenCall, text: string): void {
    if (text === '') return;
    open.text += text;
    open.args.add(text);
    if (open.item.type === 'function_call')
      this.emit({ type: 'response.function_call_arguments.delta', ...toItemPosition(open), delta: text });
  }

  #closeCompleteCalls(): void {
    for (const [index, open] of this.#calls) if (open.args.isComplete) this.#closeCall(index, open, 'completed');
  }

  #closeCalls(status: ItemStatus = 'completed'): void {
    for (const [index, open] of this.#calls) this.#closeCall(index, open, status);
  }

  #closeCall(index: number, open: OpenCall, ending: ItemStatus): void {
    this.#calls.delete(index);
    this.#closedCalls.add(index);
    const { item, text, args } = open;
    item.status = ending === 'incomplete' && args.isComplete ? 'completed' : ending;
    if (item.type === 'function_call') {
      item.arguments = text === '' ? '{}' : text;
      this.emit({ type: 'response.function_call_arguments.done', ...toItemPosition(open), arguments: item.arguments });
    } else {
      item.input = toInput(text);
      if (item.input !== '')
        this.emit({ type: 'response.custom_tool_call_input.delta', ...toItemPosition(open), delta: item.input });
      this.emit({ type: 'response.custom_tool_call_input.done', ...toItemPosition(open), input: item.input });
    }
    this.#done(open.outputIndex, item);
  }

  /** `snapshot` is a copy of the item for the event, because the item may still change. */
  #push(item: OutputItem, snapshot = structuredClone(item)): number {
    const outputIndex = this.items.push(item) - 1;
    if (outputIndex >= maxItems) throw new ParleyError('upstream_failed', `The reply has more than ${maxItems} items.`);
    this.emit({ type: 'response.output_item.added', output_index: outputIndex, item: snapshot });
    return outputIndex;
  }

  #done(outputIndex: number, item: OutputItem): void {
    this.items[outputIndex] = item;
    this.emit({ type: 'response.output_item.done', output_index: outputIndex, item });
  }
}

function toItemPosition({ item, outputIndex }: { item: { id: string }; outputIndex: number }) {
  return { item_id: item.id, output_index: outputIndex };
}

function toContentPosition(message: OpenMessage): TextPosition {
  return { ...toItemPosition(message), content_index: Math.max(0, message.item.content.length - 1) };
}

function toSummaryPosition(thought: OpenThought) {
  return { ...toItemPosition(thought), summary_index: 0 };
}
