import type { Control, RemoteDelta, ResponseAttachment, ResponseCustomContent, StageDelta } from '#contract/chat/chunk.ts';
import { Accumulator, toCustomContentChunk } from '#contract/chat/fold-frames.ts';
import type { AttachmentItem, ControlItem, McpCallItem, McpListToolsItem, StageItem } from '#contract/responses/output-items.ts';
import { includeValues } from '#contract/responses/responses-request.ts';
import type { Output } from './output.ts';

const maxChars = 16 * 1024 * 1024;

interface OpenStage {
  readonly folded: Accumulator;
  readonly id: string;
  readonly close: (item: StageItem) => void;
}

/** Converts stages, attachments, and controls to items, if the client includes them (docs/responses.md). */
export class ExtensionItems {
  readonly #output: Output;
  readonly #included: ReadonlySet<string>;
  readonly #stages = new Map<number, OpenStage>();
  /** Attachments and controls. */
  readonly #accumulator = new Accumulator();
  /** Size of the attachments and controls as JSON. */
  #chars = 0;

  constructor(output: Output, included: ReadonlySet<string>) {
    this.#output = output;
    this.#included = included;
  }

  add({ stages = [], attachments = [], controls = [] }: ResponseCustomContent): void {
    if (this.#included.has(includeValues.stages)) for (const stage of stages) this.#addToStage(stage);
    const included = {
      ...(attachments.length > 0 && this.#included.has(includeValues.attachments) && { attachments }),
      ...(controls.length > 0 && this.#included.has(includeValues.controls) && { controls }),
    };
    if (Object.keys(included).length === 0) return;
    this.#chars += JSON.stringify(included).length;
    if (this.#chars > maxChars) return;
    this.#accumulator.add(toCustomContentChunk(included));
  }

  /** Closes open stages and adds attachments and controls. */
  end(): void {
    for (const [index, stage] of this.#stages) this.#closeStage(index, stage, 'incomplete');
    const { attachments = [], controls = [] } = this.#accumulator.getCompletion().choices[0]?.message.custom_content ?? {};
    for (const attachment of attachments) this.#output.put(toAttachmentItem(attachment, this.#output.newId('pa')));
    for (const control of controls) this.#output.put(toControlItem(control, this.#output.newId('pc')));
  }

  #addToStage(delta: StageDelta): void {
    const stage = this.#stages.get(delta.index) ?? this.#openStage(delta);
    stage.folded.add(toCustomContentChunk({ stages: [{ ...delta, index: 0 }] }));
    if (delta.status) this.#closeStage(delta.index, stage, delta.status);
  }

  #openStage({ index, name = '' }: StageDelta): OpenStage {
    const id = this.#output.newId('ps');
    const item: StageItem = { type: 'parley:stage', id, status: 'in_progress', name, content: '', attachments: [] };
    const stage = { folded: new Accumulator(), id, close: this.#output.open(item).done };
    this.#stages.set(index, stage);
    return stage;
  }

  #closeStage(index: number, { folded, id, close }: OpenStage, status: StageItem['status']): void {
    this.#stages.delete(index);
    const [stage] = folded.getCompletion().choices[0]?.message.custom_content?.stages ?? [];
    const { name = '', content = '', attachments = [] } = stage ?? {};
    const visibleAttachments = attachments.map((attachment) => {
      const { type: _type, id: _id, status: _status, ...fields } = toAttachmentItem(attachment, '');
      return fields;
    });
    close({ type: 'parley:stage', id, status, name, content, attachments: visibleAttachments });
  }
}

function toAttachmentItem({ index: _index, type, ...fields }: ResponseAttachment, id: string): AttachmentItem {
  return { type: 'parley:attachment', id, status: 'completed', ...(type !== undefined && { content_type: type }), ...fields };
}

function toControlItem({ label, schema }: Control, id: string): ControlItem {
  return {
    type: 'parley:control',
    id,
    status: 'completed',
    label,
    ...(schema && { schema: schema as { [key: string]: unknown } }),
  };
}

type CalledDelta = Extract<RemoteDelta, { kind: 'called' }>;
type ListedDelta = Extract<RemoteDelta, { kind: 'listed' }>;

interface OpenCall {
  readonly item: McpCallItem;
  readonly outputIndex: number;
  readonly done: (item: McpCallItem) => void;
}

/** Converts calls to the MCP servers of the request, and their lists of tools, to items and events. */
export class RemoteItems {
  readonly #output: Output;
  readonly #calls = new Map<string, OpenCall>();

  constructor(output: Output) {
    this.#output = output;
  }

  add(delta: RemoteDelta): void {
    switch (delta.kind) {
      case 'listed':
        this.#output.close();
        this.#addList(delta);
        return;
      case 'called':
        this.#output.close();
        this.#addCall(delta);
        return;
      case 'answered':
        this.#closeCall(delta.id, delta);
        return;
      case 'held': {
        this.#output.close();
        const id = this.#output.newId('mcpr');
        if (delta.signed !== undefined) this.#output.sign(id, delta.signed);
        const { server: server_label, name, arguments: args } = delta;
        this.#output.put({ type: 'mcp_approval_request', id, server_label, name, arguments: args });
      }
    }
  }

  /** Closes calls without a result as incomplete. */
  closeIncomplete(): void {
    for (const { item, done } of this.#calls.values()) done({ ...item, status: 'incomplete' });
    this.#calls.clear();
  }

  #addList({ server: server_label, tools, error }: ListedDelta): void {
    const item: McpListToolsItem = { type: 'mcp_list_tools', id: this.#output.newId('mcpl'), server_label, tools: [] };
    const { outputIndex, done } = this.#output.open(item);
    const position = { item_id: item.id, output_index: outputIndex };
    this.#output.emit({ type: 'response.mcp_list_tools.in_progress', ...position });
    this.#output.emit({
      type: error === null ? 'response.mcp_list_tools.completed' : 'response.mcp_list_tools.failed',
      ...position,
    });
    done({ ...item, tools: [...tools], ...(error !== null && { error }) });
  }

  #addCall({ id: call, server: server_label, name, arguments: args, approvalRequest, signed }: CalledDelta): void {
    const id = this.#output.newId('mcp');
    if (signed !== undefined) this.#output.sign(id, signed);
    const fields = { approval_request_id: approvalRequest, output: null, error: null };
    const item: McpCallItem = { type: 'mcp_call', id, server_label, name, arguments: '', status: 'in_progress', ...fields };
    const { outputIndex, done } = this.#output.open(item);
    item.arguments = args;
    this.#calls.set(call, { item, outputIndex, done });
    const position = { item_id: id, output_index: outputIndex };
    this.#output.emit({ type: 'response.mcp_call.in_progress', ...position });
    this.#output.emit({ type: 'response.mcp_call_arguments.delta', ...position, delta: args });
    this.#output.emit({ type: 'response.mcp_call_arguments.done', ...position, arguments: args });
  }

  #closeCall(call: string, { output, error }: Pick<McpCallItem, 'output' | 'error'>): void {
    const open = this.#calls.get(call);
    if (open === undefined) return;
    this.#calls.delete(call);
    const { item, outputIndex, done } = open;
    const type = error === null ? 'response.mcp_call.completed' : 'response.mcp_call.failed';
    this.#output.emit({ type, item_id: item.id, output_index: outputIndex });
    done({ ...item, status: error === null ? 'completed' : 'failed', output, error });
  }
}
