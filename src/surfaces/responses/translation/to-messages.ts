import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import { isTextPart, toContent, toText, toTextPart } from '#contract/chat/content.ts';
import { isFunctionCallId } from '#contract/chat/function-calling.ts';
import { type Attachment, type ContentPart, type CustomContent, type Message, toolOutput } from '#contract/chat/message.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import {
  type AnyItem,
  type CallOutputInput,
  type CustomCallInput,
  type FunctionCallInput,
  type InputItem,
  type InputPart,
  isSupportedItem,
} from '#contract/responses/input-items.ts';
import { type McpApprovals, toMcpName } from './mcp-servers.ts';
import { type OfferedTools, toArguments } from './offered-tools.ts';
import { type HiddenContent, isSealed, type SealedItem } from './sealed-thoughts.ts';
import { type MessageContent, toMessageContent } from './to-message-content.ts';

/** Separator between several texts of one message. */
const paragraph = '\n\n';

/** Context for the translation of a conversation. */
export interface TranslationContext {
  readonly tools: OfferedTools;
  /**
   * Opens the sealed content of an item. Returns an empty object for content of another kind of model or another application.
   * `path` locates the item. Throws `invalid_encrypted_content`.
   */
  readonly open: (item: SealedItem, path: string) => HiddenContent;
  /** Returns the path of an item in the request. */
  readonly getPath: (item: AnyItem) => string;
  /**
   * Whether an upstream of the Responses API may be used, which receives the original items. If so, items that cannot be
   * translated are skipped.
   */
  readonly mayBeRelayed: boolean;
  readonly approvals: McpApprovals;
}

/**
 * Converts the items of a conversation to chat completions messages. Throws `invalid_request` for content that cannot be
 * converted.
 */
export function toMessages(items: readonly AnyItem[], context: TranslationContext): Message[] {
  const messages = new MessageBuilder(context);
  for (const item of items) messages.add(item, context.getPath(item));
  return messages.all.filter(
    ({ role, content, tool_calls: calls, custom_content: custom }) =>
      role !== 'assistant' || content !== undefined || calls !== undefined || custom !== undefined,
  );
}

/** An assistant message. Later items may extend it. */
interface Reply extends Message {
  role: 'assistant';
}

/** The messages of a conversation, built item by item. */
class MessageBuilder {
  readonly all: Message[] = [];
  readonly #context: TranslationContext;
  /** Names of called tools by call ID. */
  readonly #calledNames = new Map<string, string>();
  /** Assistant message that the next assistant item extends. */
  #reply: Reply | undefined;
  /** Last assistant message in `all`. */
  #lastReply: Reply | undefined;
  /** Vendor signatures of calls, by call ID. */
  readonly #signatures = new Map<string, unknown>();

  constructor(context: TranslationContext) {
    this.#context = context;
  }

  add(item: AnyItem, path: string): void {
    if (!isSupportedItem(item)) {
      if (this.#context.mayBeRelayed) return;
      throw createRequestError(`${path}.type`, `is ${item.type}, ${unsupportedText}`);
    }
    switch (item.type) {
      case 'message':
        if (item.role === 'assistant') {
          if (!this.#context.mayBeRelayed) requireTexts(item.content, `${path}.content`);
          this.#addReplyText(this.#toContent(item.content, `${path}.content`).parts);
        } else this.#addInput(item.role, this.#toContent(item.content, `${path}.content`));
        return;
      case 'function_call':
        this.#addFunctionCall(item, item.arguments);
        return;
      case 'custom_tool_call':
        this.#addFunctionCall(item, toArguments(item.input));
        return;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#addOutput(item, path);
        return;
      case 'reasoning':
        if (isSealed(item)) this.#addThoughts(this.#context.open(item, path));
        return;
      case 'compaction':
        this.#addThoughts(this.#context.open(item, path));
        return;
      case 'parley:completed_control':
        this.#addCompletedControl(item);
        return;
      default:
        this.#addOther(item, path);
    }
  }

  #toContent(content: string | readonly InputPart[], path: string): MessageContent {
    return toMessageContent(content, path, this.#context.mayBeRelayed);
  }

  #addOther(item: InputItem, path: string): void {
    switch (item.type) {
      case 'item_reference':
        if (this.#context.mayBeRelayed) return;
        throw createRequestError(`${path}.id`, 'refers to an item that is not stored. Send the item itself');
      case 'mcp_call':
        this.#addRemoteCall(item, toRemoteResult(item));
        return;
      case 'mcp_approval_request': {
        const approval = this.#context.approvals.find(String(item.id));
        if (approval !== undefined) this.#addRemoteCall(item, approval.output);
        return;
      }
      case 'parley:state':
        if (isJsonObject(item.state)) this.#openCustomContent().state = item.state;
        return;
      case 'parley:attachment': {
        const custom = this.#openCustomContent();
        custom.attachments ??= [];
        custom.attachments.push(toAttachment(item));
        return;
      }
      case 'parley:control': {
        const custom = this.#openCustomContent();
        custom.controls ??= [];
        (custom.controls as unknown[]).push({ label: item.label, ...(isJsonObject(item.schema) && { schema: item.schema }) });
        return;
      }
    }
  }

  #addInput(
    role: 'user' | 'system' | 'developer',
    { parts, attachments }: { parts: ContentPart[]; attachments: Attachment[] },
  ): void {
    this.#reply = undefined;
    if (role === 'user')
      this.all.push({
        role,
        content: toContent(parts, paragraph),
        ...(attachments.length > 0 && { custom_content: { attachments } }),
      });
    else this.all.push({ role: 'system', content: toText(parts, paragraph) });
  }

  /**
   * Creates one message per assistant item. Text next to calls is added to their message instead, because the results must
   * follow directly.
   */
  #addReplyText(parts: readonly ContentPart[]): void {
    const text = toText(parts, paragraph);
    const reply = this.#reply;
    if (reply === undefined || (hasContent(reply) && !hasCalls(reply))) this.#startReply().content = text;
    else reply.content = hasContent(reply) ? `${reply.content}${paragraph}${text}` : text;
  }

  #addFunctionCall({ call_id, name, namespace }: FunctionCallInput | CustomCallInput, args: string): void {
    this.#addCall(call_id, this.#context.tools.getFlatName(name, namespace), args);
  }

  /** Adds a call that Parley ran, with its result. A call without a result has not been run yet. */
  #addRemoteCall({ id: itemId, server_label, name, arguments: args }: JsonObject, output: string | undefined): void {
    const id = typeof itemId === 'string' && itemId !== '' ? itemId : `mcp_${this.all.length}`;
    this.#addCall(id, toMcpName(String(server_label), String(name)), String(args));
    if (output === undefined) return;
    this.#reply = undefined;
    this.#addResult({ role: 'tool', tool_call_id: id, content: output });
  }

  #addCall(id: string, flatName: string, args: string): void {
    this.#calledNames.set(id, flatName);
    const reply = this.#reply ?? this.#startReply();
    reply.content ??= null;
    if (isFunctionCallId(id)) {
      reply.function_call = { name: flatName, arguments: args };
      return;
    }
    const signature = this.#signatures.get(id);
    const call = {
      id,
      type: 'function',
      function: { name: flatName, arguments: args },
      ...(signature !== undefined && { extra_content: signature }),
    };
    // Appends in place, because a request may have tens of thousands of calls.
    if (reply.tool_calls === undefined) reply.tool_calls = [call];
    else (reply.tool_calls as unknown[]).push(call);
  }

  /** Adds a tool result. Its non-text content follows in a user message. */
  #addOutput({ call_id: id, output }: CallOutputInput, path: string): void {
    this.#reply = undefined;
    const { parts, attachments } = this.#toContent(output, `${path}.output`);
    const name = this.#calledNames.get(id);
    const reference =
      name !== undefined && isFunctionCallId(id)
        ? ({ role: 'function', name } as const)
        : ({ role: 'tool', tool_call_id: id } as const);
    this.#addResult({ ...reference, content: toText(parts, paragraph) });
    const otherParts = parts.filter((part) => !isTextPart(part));
    if (otherParts.length === 0 && attachments.length === 0) return;
    const heading = toTextPart(`From the result of ${name ?? 'a tool'}:`);
    this.all.push({
      role: 'user',
      [toolOutput]: true,
      content: [heading, ...otherParts],
      ...(attachments.length > 0 && { custom_content: { attachments } }),
    });
  }

  /** Inserts a result directly after the calls and earlier results. */
  #addResult(result: Message): void {
    const last = this.all.at(-1);
    const followsOutput = last?.role === 'user' && this.all.at(-2)?.role === 'tool';
    if (followsOutput && last !== undefined) this.all.splice(-1, 0, result);
    else this.all.push(result);
  }

  #addThoughts({ thinking_blocks, reasoning_content, extra_content, calls = {}, state, summary }: HiddenContent): void {
    this.#addSignatures(calls);
    if (summary !== undefined) {
      this.#reply = undefined;
      this.all.push({ role: 'user', content: `${summaryHeading}\n\n${summary}` });
    }
    if (state !== undefined) this.#openCustomContent().state = state;
    if (thinking_blocks === undefined && reasoning_content === undefined && extra_content === undefined) return;
    const current = this.#reply;
    const reply =
      current === undefined || (hasContent(current) && !hasCalls(current) && extra_content === undefined)
        ? this.#startReply()
        : current;
    if (thinking_blocks !== undefined) {
      reply.thinking_blocks ??= [];
      for (const block of thinking_blocks) (reply.thinking_blocks as unknown[]).push(block);
    }
    if (reasoning_content !== undefined) reply.reasoning_content = reasoning_content;
    if (extra_content !== undefined) reply.extra_content = extra_content;
  }

  /** Stores the signatures of calls. A signature may precede or follow its call. */
  #addSignatures(signatures: Readonly<Record<string, unknown>>): void {
    for (const [id, signature] of Object.entries(signatures)) this.#signatures.set(id, signature);
    for (const call of (this.#reply?.tool_calls as JsonObject[] | undefined) ?? []) {
      const id = String(call.id);
      if (Object.hasOwn(signatures, id)) call.extra_content = signatures[id];
    }
  }

  /** Returns the custom content of the last assistant message. Callers extend it in place. */
  #openCustomContent(): CustomContent {
    const reply = this.#reply ?? this.#lastReply ?? this.#startReply();
    reply.content ??= '';
    reply.custom_content ??= {};
    return reply.custom_content;
  }

  #addCompletedControl({ label, value }: { label: string; value?: JsonObject }): void {
    this.#reply = undefined;
    const completed_control = { label, ...(value !== undefined && { value }) };
    this.all.push({ role: 'user', content: '', custom_content: { completed_control } });
  }

  #startReply(): Reply {
    const reply: Reply = { role: 'assistant' };
    this.all.push(reply);
    this.#reply = reply;
    this.#lastReply = reply;
    return reply;
  }
}

const unsupportedText =
  'which this deployment does not support. Remove it, or use a deployment whose upstream supports the Responses API';
const summaryHeading = 'Summary of the conversation so far:';

/** Returns the output of an MCP call as text for the model. */
function toRemoteResult({ output, error }: JsonObject): string {
  if (typeof output === 'string') return output;
  return typeof error === 'string' ? error : 'The call was interrupted. Its result is unknown.';
}

function hasContent({ content }: Message): boolean {
  return typeof content === 'string' && content !== '';
}

/** Throws `invalid_request` for images and files in an assistant message, which chat completions do not support. */
function requireTexts(content: string | readonly InputPart[], path: string): void {
  if (typeof content === 'string') return;
  const index = content.findIndex(({ type }) => type === 'input_image' || type === 'input_file');
  if (index < 0) return;
  const claim = `is ${content[index]?.type}, which is not supported in assistant messages. Send it in a user message`;
  throw createRequestError(`${path}[${index}].type`, claim);
}

function hasCalls({ tool_calls: calls, function_call: call }: Message): boolean {
  return calls !== undefined || call !== undefined;
}

function toAttachment({ content_type: type, title, data, url, reference_type, reference_url }: JsonObject): Attachment {
  const fields = { type, title, data, url, reference_type, reference_url };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === 'string')) as Attachment;
}
