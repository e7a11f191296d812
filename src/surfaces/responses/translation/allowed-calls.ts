import { isJsonObject, type JsonObject, tryParseJson } from '#base/json/json.ts';
import { getEventAt, listEventData } from '#base/stream/event-splitter.ts';
import { fromLatin1 } from '#base/text/bytes.ts';
import type { Frame } from '#contract/chat/frame.ts';
import { ParleyError } from '#contract/errors/errors.ts';
import type { ResponsesRequest } from '#contract/responses/responses-request.ts';
import type { OfferedTools } from './offered-tools.ts';

/** Types of tools that the client runs, by the type of the call. Functions and custom tools are identified by name instead. */
const clientRunTools: Readonly<Record<string, readonly string[]>> = {
  apply_patch_call: ['apply_patch'],
  computer_call: ['computer', 'computer_use_preview'],
  local_shell_call: ['local_shell'],
  shell_call: ['shell'],
};

/** Calls that `tool_choice` of the type `allowed_tools` allows in a relayed reply. */
export class AllowedCalls {
  readonly #tools: OfferedTools;
  readonly #types: ReadonlySet<unknown>;

  private constructor(tools: OfferedTools, types: ReadonlySet<unknown>) {
    this.#tools = tools;
    this.#types = types;
  }

  /** Returns undefined if the request allows every tool. */
  static of({ tool_choice: choice }: ResponsesRequest, tools: OfferedTools): AllowedCalls | undefined {
    if (typeof choice !== 'object' || choice.type !== 'allowed_tools') return undefined;
    const listed = Array.isArray(choice.tools) ? choice.tools.filter(isJsonObject) : [];
    return new AllowedCalls(tools, new Set(listed.map(({ type }) => type)));
  }

  /** Throws `upstream_failed` if a relayed frame contains a call of a tool outside the list. */
  require({ bytes, native }: Frame): void {
    if (native === undefined || !bytes.includes('_call"')) return;
    if (native.isWhole) return this.#requireIn(tryParseJson(fromLatin1(bytes)));
    for (let index = 0; index < bytes.length; ) {
      const event = getEventAt(bytes, index);
      index += event.length;
      const value = tryParseJson(fromLatin1(listEventData(event)[0] ?? ''));
      if (!isJsonObject(value)) continue;
      this.#requireItem(value.item);
      this.#requireIn(value.response);
    }
  }

  #requireIn(response: unknown): void {
    if (!isJsonObject(response) || !Array.isArray(response.output)) return;
    for (const item of response.output) this.#requireItem(item);
  }

  #requireItem(item: unknown): void {
    if (isJsonObject(item) && !this.#isAllowed(item)) throw callNotAllowed(String(item.name ?? item.type));
  }

  #isAllowed({ type, name, namespace }: JsonObject): boolean {
    if (type === 'function_call' || type === 'custom_tool_call') {
      const flatName = this.#tools.offeredAs(String(name), typeof namespace === 'string' ? namespace : undefined);
      return flatName !== undefined && this.#tools.isAllowed(flatName);
    }
    const tools = typeof type === 'string' && Object.hasOwn(clientRunTools, type) ? clientRunTools[type] : undefined;
    return tools?.some((tool) => this.#types.has(tool)) ?? true;
  }
}

export function callNotAllowed(name: string): ParleyError {
  const displayedName = JSON.stringify(name.slice(0, 64));
  return new ParleyError(
    'upstream_failed',
    `The model called the tool ${displayedName}, which tool_choice of the request does not allow.`,
  );
}
