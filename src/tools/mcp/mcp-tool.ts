import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/client';
import type { JsonObject } from '#base/json.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { type Tool, type ToolContext, ToolFault, type ToolQuestion, type ToolResult } from '#domain/tools/tool.ts';
import { CallUnderWay } from './calls-under-way.ts';
import type { Connection } from './connection.ts';
import { type Answers, takeAnswer, toQuestion } from './question.ts';
import { refusalOf, serverFault, toServerFault } from './server-fault.ts';
import type { Session } from './session.ts';
import { showProgress } from './show-progress.ts';
import { toParameters } from './to-parameters.ts';
import { toToolResult } from './to-tool-result.ts';

const longestDescription = 4000;
const maxRounds = 10;

export interface McpToolOptions {
  readonly settings: McpToolsetSettings;
  /** Gives the session of the user that the tool was made for. */
  readonly session: () => Session;
  /** Milliseconds that the server may be silent: without an answer and without progress. */
  readonly timeoutMs: number;
}

/** A tool of an MCP server. */
export function createMcpTool(listed: ListedTool, options: McpToolOptions): Tool {
  const { name, title = '', description = title, annotations } = listed;
  return {
    name,
    description: description.slice(0, longestDescription),
    parameters: toParameters(listed.inputSchema),
    annotations,
    run: (args, context) => new McpCall(listed, options, context).run(args),
  };
}

export function isAllowed({ allowedTools }: McpToolsetSettings, name: string): boolean {
  return allowedTools === undefined || allowedTools.includes(name);
}

class McpCall {
  readonly #tool: ListedTool;
  readonly #options: McpToolOptions;
  readonly #context: ToolContext;

  constructor(tool: ListedTool, options: McpToolOptions, context: ToolContext) {
    this.#tool = tool;
    this.#options = options;
    this.#context = context;
  }

  async run(args: JsonObject): Promise<ToolResult> {
    const { settings, session } = this.#options;
    const { signal, answer } = this.#context;
    if (!isAllowed(settings, this.#tool.name))
      throw new ToolFault(`${this.#tool.name} is not an allowed tool of ${settings.name}`);
    const answers = answer === undefined ? {} : takeAnswer(settings.name, answer);
    if ('label' in answers) return { text: '', attachments: [], failed: false, question: answers };
    try {
      return await session().use(signal, (connection) => this.#call(connection, args, answers));
    } catch (thrown) {
      signal.throwIfAborted();
      throw toServerFault(settings.name, thrown);
    }
  }

  /** A server may want to be called again before it answers. */
  async #call(connection: Connection, args: JsonObject, answers: Answers): Promise<ToolResult> {
    let given = answers;
    for (let round = 1; round <= maxRounds; round += 1) {
      const result = await this.#send(connection, args, given);
      if ('text' in result) return result;
      given = result;
    }
    throw serverFault(this.#options.settings.name, `did not come to an answer in ${maxRounds} rounds`);
  }

  /** Gives what came of the call, or what the server wants to be called again with at once. */
  async #send(connection: Connection, args: JsonObject, answers: Answers): Promise<ToolResult | Answers> {
    const { client, calls, isStateless, mask } = connection;
    const { settings } = this.#options;
    const { name } = this.#tool;
    const call = new CallUnderWay(settings.name, answers);
    const given = isStateless ? answers : {};
    try {
      const result = await calls.run(call, () =>
        client.callTool({ name, arguments: args, ...given }, this.#toOptions(connection, call)),
      );
      if (call.question !== undefined) return toAsking(call.question, mask);
      if (!isInputRequired(result)) return toToolResult(result, mask);
      const question = toQuestion(settings.name, result);
      return question === undefined ? { requestState: result.requestState ?? '' } : toAsking(question, mask);
    } catch (thrown) {
      this.#context.signal.throwIfAborted();
      if (call.question !== undefined) return toAsking(call.question, mask);
      call.ended.throwIfAborted();
      const refusal = refusalOf(thrown);
      if (refusal === undefined) throw thrown;
      return { text: mask(refusal), attachments: [], failed: true };
    }
  }

  #toOptions({ mask }: Connection, { ended }: CallUnderWay) {
    const { signal, report } = this.#context;
    const { name, inputSchema } = this.#tool;
    return {
      signal: AbortSignal.any([signal, ended]),
      timeout: this.#options.timeoutMs,
      resetTimeoutOnProgress: true,
      onprogress: showProgress(report, mask),
      // Without its output schema: what a server wrote there could be made to take for ever, and the model sees the result.
      toolDefinition: { name, inputSchema },
      allowInputRequired: true as const,
    };
  }
}

function toAsking(question: ToolQuestion, mask: (text: string) => string): ToolResult {
  return { text: '', attachments: [], failed: false, question: { ...question, message: mask(question.message) } };
}

function isInputRequired(
  result: CallToolResult,
): result is CallToolResult & { resultType: 'input_required'; requestState?: string } {
  return (result as { resultType?: unknown }).resultType === 'input_required';
}
