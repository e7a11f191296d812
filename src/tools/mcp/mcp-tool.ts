import type { Client, Tool as ListedTool, ListResourcesResult, Progress, ReadResourceResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '#base/json/json.ts';
import { truncate } from '#base/text/truncate.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { type Tool, type ToolContext, ToolError, type ToolQuestion, type ToolResult } from '#domain/tools/tool.ts';
import type { Connection } from './connection.ts';
import { ActiveCall, type Answers, applyAnswer, toQuestion } from './elicitation.ts';
import { createServerError, getHttpStatus, getServerMessage, toServerError } from './server-error.ts';
import type { Session } from './session.ts';
import { toParameters } from './to-parameters.ts';
import { toToolResult } from './to-tool-result.ts';

/** Maximum number of characters of a description. Longer descriptions are truncated. */
export const maxDescriptionChars = 4000;

/** Creates a tool of an MCP server. */
export function createMcpTool(listed: ListedTool, options: McpCallOptions): Tool {
  const { name, title = '', description = title, annotations, inputSchema } = listed;
  return {
    name,
    description: truncate(description, maxDescriptionChars),
    parameters: toParameters(inputSchema),
    annotations,
    async run(args, context) {
      if (!isAllowed(options.settings, name)) throw new ToolError(`${name} is not an allowed tool of ${options.settings.name}`);
      // The output schema is omitted. A malicious schema could take forever to check, and the model sees the result anyway.
      const toolDefinition = { name, inputSchema };
      return callServer(options, context, {
        send: (client, answers, sendOptions) =>
          client.callTool({ name, arguments: args, ...answers }, { ...sendOptions, toolDefinition }),
        toResult: toToolResult,
      });
    },
  };
}

export function isAllowed({ allowedTools }: McpToolsetSettings, name: string): boolean {
  return allowedTools === undefined || allowedTools.includes(name);
}

/** Creates the tools for a server's resources: one lists resources and templates, one reads a resource. */
export function createResourceTools(options: McpCallOptions): readonly Tool[] {
  const { name: server } = options.settings;
  return [
    {
      name: 'list_resources',
      description: `Lists the resources of the MCP server ${server}: addresses for read_resource, and templates for addresses.`,
      parameters: resourceParameters(
        { cursor: 'nextCursor of the previous list, to continue after it. If absent, the list starts at the beginning.' },
        [],
      ),
      run: ({ cursor }, context) =>
        callServer(options, context, {
          send: (client, _answers, sendOptions) =>
            listResources(client, typeof cursor === 'string' ? cursor : undefined, sendOptions),
          toResult: toListResult,
        }),
    },
    {
      name: 'read_resource',
      description: `Reads a resource of the MCP server ${server}.`,
      parameters: resourceParameters({ uri: 'Its address: one that is listed, or one made of a template.' }, ['uri']),
      run: ({ uri }, context) =>
        callServer(options, context, {
          send: (client, answers, sendOptions) =>
            client.readResource({ uri: String(uri), ...answers }, { ...sendOptions, cacheMode: 'bypass' }),
          toResult: toReadResult,
        }),
    },
  ];
}

function resourceParameters(texts: Readonly<Record<string, string>>, required: readonly string[]): JsonObject {
  const properties = Object.entries(texts).map(([name, description]) => [name, { type: 'string', description }]);
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

interface ResourceList {
  readonly resources: ListResourcesResult['resources'];
  readonly templates: readonly object[];
  readonly nextCursor: string | undefined;
}

/** Returns one page of resources. The first page includes the templates. */
async function listResources(client: Client, cursor: string | undefined, sendOptions: SendOptions): Promise<ResourceList> {
  const page = client.request({ method: 'resources/list', params: cursor === undefined ? {} : { cursor } }, sendOptions);
  const [{ resources, nextCursor }, templates] = await Promise.all([
    page,
    cursor === undefined ? listTemplates(client, sendOptions) : [],
  ]);
  return { resources, templates, nextCursor };
}

/** Returns the templates. A server without templates returns an error, and a stateless server returns 404. */
async function listTemplates(client: Client, sendOptions: SendOptions): Promise<readonly object[]> {
  try {
    return (await client.request({ method: 'resources/templates/list', params: {} }, sendOptions)).resourceTemplates;
  } catch (error) {
    if (getServerMessage(error) === undefined && getHttpStatus(error) !== 404) throw error;
    return [];
  }
}

function toListResult({ resources, templates, nextCursor }: ResourceList, mask: (text: string) => string): ToolResult {
  const payload = { resources, ...(templates.length > 0 && { templates }), ...(nextCursor !== undefined && { nextCursor }) };
  return { text: mask(JSON.stringify(payload)), attachments: [], failed: false };
}

function toReadResult({ contents }: ReadResourceResult, mask: (text: string) => string): ToolResult {
  const content = contents.map((resource) => ({ type: 'resource' as const, resource }));
  return toToolResult({ content }, mask);
}

const maxRounds = 10;

export interface McpCallOptions {
  readonly settings: McpToolsetSettings;
  /** Returns the session of the user that the tool was created for. */
  readonly getSession: () => Session;
  /** Maximum number of milliseconds without an answer or progress from the server. */
  readonly timeoutMs: number;
}

/** A request to a server, and the conversion of its result. */
interface McpRequest<Result extends object> {
  /** Sends the request. `answers` are the user's answers to the server's earlier questions. */
  readonly send: (client: Client, answers: Answers, options: SendOptions) => Promise<Result>;
  readonly toResult: (result: Result, mask: Connection['mask']) => ToolResult;
}

/** Request options of the SDK. */
interface SendOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly resetTimeoutOnProgress: true;
  readonly onprogress: (progress: Progress) => void;
  readonly allowInputRequired: true;
}

/**
 * Calls a tool of a server. Opens the session if necessary, and repeats the call if the server requests further rounds, up to
 * `maxRounds`. Rejects with `ToolError`, or with the reason of the signal.
 */
async function callServer<Result extends object>(
  options: McpCallOptions,
  context: ToolContext,
  request: McpRequest<Result>,
): Promise<ToolResult> {
  const { settings, getSession } = options;
  const { signal, answer } = context;
  const answers = answer === undefined ? {} : applyAnswer(settings.name, answer);
  if ('label' in answers) return toQuestionResult(answers);
  try {
    return await getSession().use(signal, (connection) => callRepeatedly({ connection, options, context, request }, answers));
  } catch (error) {
    signal.throwIfAborted();
    throw toServerError(settings.name, error);
  }
}

interface ConnectedCall<Result extends object> {
  readonly connection: Connection;
  readonly options: McpCallOptions;
  readonly context: ToolContext;
  readonly request: McpRequest<Result>;
}

/** Calls the server repeatedly, because it can request further rounds before it answers. */
async function callRepeatedly<Result extends object>(connected: ConnectedCall<Result>, answers: Answers): Promise<ToolResult> {
  let currentAnswers = answers;
  for (let round = 1; round <= maxRounds; round += 1) {
    const result = await callOnce(connected, currentAnswers);
    if ('text' in result) return result;
    currentAnswers = result;
  }
  throw createServerError(connected.options.settings.name, `returned no result after ${maxRounds} requests for input`);
}

/** Returns the result of the call, or the answers for an immediate further round. */
async function callOnce<Result extends object>(
  { connection, options: { settings, timeoutMs }, context: { signal, report }, request }: ConnectedCall<Result>,
  answers: Answers,
): Promise<ToolResult | Answers> {
  const { client, calls, isStateless, mask } = connection;
  const call = new ActiveCall({ name: settings.name, mask }, answers);
  const sendOptions: SendOptions = {
    signal: AbortSignal.any([signal, call.endSignal]),
    timeout: timeoutMs,
    resetTimeoutOnProgress: true,
    onprogress: createProgressHandler(report, mask),
    allowInputRequired: true,
  };
  try {
    const result = await calls.run(call, () => request.send(client, isStateless ? answers : {}, sendOptions));
    if (call.question !== undefined) return toQuestionResult(call.question);
    if (!isInputRequired(result)) return request.toResult(result, mask);
    const question = toQuestion({ name: settings.name, mask }, result);
    return question === undefined ? { requestState: result.requestState ?? '' } : toQuestionResult(question);
  } catch (error) {
    signal.throwIfAborted();
    if (call.question !== undefined) return toQuestionResult(call.question);
    call.endSignal.throwIfAborted();
    const serverMessage = getServerMessage(error);
    if (serverMessage === undefined || connection.hasExpired(error)) throw error;
    return { text: serverMessage, attachments: [], failed: true };
  }
}

function toQuestionResult(question: ToolQuestion): ToolResult {
  return { text: '', attachments: [], failed: false, question };
}

function isInputRequired(result: object): result is { resultType: 'input_required'; requestState?: string } {
  return (result as { resultType?: unknown }).resultType === 'input_required';
}

const maxReports = 200;
const maxMessageChars = 200;

/** Reports progress to the user. Skips reports that arrive before the previous one was read, and those beyond the maximum. */
function createProgressHandler(report: ToolContext['report'], mask: (text: string) => string): (progress: Progress) => void {
  let isReporting = false;
  let reports = 0;
  return (progress) => {
    if (isReporting || reports === maxReports) return;
    isReporting = true;
    reports += 1;
    const onDone = (): void => {
      isReporting = false;
    };
    report({ content: `${toLine(progress, mask)}\n\n` }).then(onDone, onDone);
  };
}

function toLine({ progress, total, message }: Progress, mask: (text: string) => string): string {
  const amount = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? amount : `${amount}: ${truncate(mask(message), maxMessageChars)}`;
}
