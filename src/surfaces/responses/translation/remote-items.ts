import type { RemoteDelta } from '#contract/chat/chunk.ts';
import type { McpCallItem, McpListToolsItem } from '#contract/responses/output-items.ts';
import type { Output } from './output.ts';

type CalledDelta = Extract<RemoteDelta, { kind: 'called' }>;
type ListedDelta = Extract<RemoteDelta, { kind: 'listed' }>;

interface OpenCall {
  readonly item: McpCallItem;
  readonly outputIndex: number;
  readonly done: (item: McpCallItem) => void;
}

/** Converts activity of the request's MCP servers to items and events. */
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
        this.#list(delta);
        return;
      case 'called':
        this.#output.close();
        this.#call(delta);
        return;
      case 'answered':
        this.#answer(delta.id, delta);
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

  #list({ server: server_label, tools, error }: ListedDelta): void {
    const item: McpListToolsItem = { type: 'mcp_list_tools', id: this.#output.newId('mcpl'), server_label, tools: [] };
    const { outputIndex, done } = this.#output.openAt(item);
    const position = { item_id: item.id, output_index: outputIndex };
    this.#output.emit({ type: 'response.mcp_list_tools.in_progress', ...position });
    this.#output.emit({
      type: error === null ? 'response.mcp_list_tools.completed' : 'response.mcp_list_tools.failed',
      ...position,
    });
    done({ ...item, tools: [...tools], ...(error !== null && { error }) });
  }

  #call({ id: call, server: server_label, name, arguments: args, approvalRequest, signed }: CalledDelta): void {
    const id = this.#output.newId('mcp');
    if (signed !== undefined) this.#output.sign(id, signed);
    const fields = { approval_request_id: approvalRequest, output: null, error: null };
    const item: McpCallItem = { type: 'mcp_call', id, server_label, name, arguments: '', status: 'in_progress', ...fields };
    const { outputIndex, done } = this.#output.openAt(item);
    item.arguments = args;
    this.#calls.set(call, { item, outputIndex, done });
    const position = { item_id: id, output_index: outputIndex };
    this.#output.emit({ type: 'response.mcp_call.in_progress', ...position });
    this.#output.emit({ type: 'response.mcp_call_arguments.delta', ...position, delta: args });
    this.#output.emit({ type: 'response.mcp_call_arguments.done', ...position, arguments: args });
  }

  #answer(call: string, { output, error }: Pick<McpCallItem, 'output' | 'error'>): void {
    const open = this.#calls.get(call);
    if (open === undefined) return;
    this.#calls.delete(call);
    const { item, outputIndex, done } = open;
    const type = error === null ? 'response.mcp_call.completed' : 'response.mcp_call.failed';
    this.#output.emit({ type, item_id: item.id, output_index: outputIndex });
    done({ ...item, status: error === null ? 'completed' : 'failed', output, error });
  }
}
