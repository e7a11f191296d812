import type { JsonObject } from '#base/json/json.ts';
import { getToolCalls, type Message } from '#contract/chat/message.ts';
import { createRequestError } from '#contract/errors/request-error.ts';
import type { AnyItem } from '#contract/responses/input-items.ts';
import type { ApprovedCall, RemoteServer } from '#domain/tools/remote-server.ts';
import { toMcpName } from './mcp-servers.ts';

interface Answer {
  readonly approve: boolean;
  readonly reason: string;
  /** Whether the answer is part of this request. */
  readonly isNew: boolean;
}

const unansweredText = 'The call was not made, because the user has neither allowed nor rejected it.';
const noResultText = 'The call was allowed. Its result is unknown.';

/** Approval requests for calls to MCP servers, and the users' answers. */
export class McpApprovals {
  readonly #requests = new Map<string, JsonObject>();
  readonly #answers = new Map<string, Answer>();
  /** Approval requests whose call was run. */
  readonly #executed = new Set<string>();

  /** `shift` is the number of items from earlier requests. Throws `invalid_request` for an answer without an approval request. */
  constructor(items: readonly AnyItem[], { shift, getPath }: { shift: number; getPath: (item: AnyItem) => string }) {
    items.forEach((rawItem, index) => {
      const item = rawItem as JsonObject;
      if (item.type === 'mcp_approval_request') this.#requests.set(String(item.id), item);
      else if (item.type === 'mcp_call' && typeof item.approval_request_id === 'string')
        this.#executed.add(item.approval_request_id);
      else if (item.type === 'mcp_approval_response') this.#answer(item, { isNew: index >= shift, at: getPath(rawItem) });
    });
  }

  /**
   * Returns the output of the requested call for the model, which is undefined if the call must run now. Returns undefined if
   * the call was already run, so that the conversation contains its result.
   */
  find(request: string): { readonly output: string | undefined } | undefined {
    if (this.#executed.has(request)) return undefined;
    const answer = this.#answers.get(request);
    if (answer === undefined) return { output: unansweredText };
    if (!answer.approve) return { output: `The user declined this call.${answer.reason === '' ? '' : ` ${answer.reason}`}` };
    return { output: answer.isNew ? undefined : noResultText };
  }

  /** Returns the calls to run now. Throws `invalid_request` if the request does not contain the server of a call. */
  listApprovedCalls(servers: readonly RemoteServer[], messages: readonly Message[]): ApprovedCall[] {
    const labels = new Set(servers.map(({ settings }) => settings.name));
    const callsById = new Map(messages.flatMap(getToolCalls).map((call) => [call.id, call]));
    return [...this.#requests].flatMap(([id, { server_label, name, arguments: args }]) => {
      const approval = this.find(id);
      if (approval === undefined || approval.output !== undefined) return [];
      const label = String(server_label);
      if (!labels.has(label))
        throw createRequestError(
          'tools',
          `must contain the MCP server ${JSON.stringify(label)}, because one of its calls was approved`,
        );
      return [
        {
          ...{ id, name: toMcpName(label, String(name)), arguments: String(args) },
          ...{ approvalRequest: id, otherFields: toSignature(callsById.get(id)) },
        },
      ];
    });
  }

  #answer({ approval_request_id: id, approve, reason }: JsonObject, { isNew, at }: { isNew: boolean; at: string }): void {
    const request = String(id);
    if (!this.#requests.has(request) && isNew)
      throw createRequestError(
        `${at}.approval_request_id`,
        'does not refer to an earlier approval request. Also send the mcp_approval_request, or previous_response_id',
      );
    this.#answers.set(request, { approve: approve === true, reason: typeof reason === 'string' ? reason : '', isNew });
  }
}

/** Returns the vendor's signature, which must be sent back with the call. */
function toSignature({ extra_content: signed }: { readonly extra_content?: unknown } = {}): JsonObject {
  return signed === undefined ? {} : { extra_content: signed };
}
