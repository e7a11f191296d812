import { isJsonObject, type JsonObject } from '#base/json.ts';
import { bookStatus, memberLoans } from './library.ts';

interface LibraryTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly run: (args: JsonObject) => string;
}

const newestRevision = '2025-11-25';
const revisions = ['2025-03-26', '2025-06-18', newestRevision];
const serverInfo = { name: 'hill-street-library', version: '1.0.0' };
const noMethod = -32_601;
const badParameters = -32_602;
const badRequest = -32_600;

const tools: readonly LibraryTool[] = [
  {
    name: 'book_status',
    description: 'Tells whether a book of this title is on the shelf or lent',
    inputSchema: {
      type: 'object',
      properties: { title: { type: 'string', description: 'Title of the book' } },
      required: ['title'],
    },
    run: ({ title }) => bookStatus(String(title)),
  },
  {
    name: 'member_loans',
    description: 'Lists the books that the member has borrowed and when they must be returned',
    inputSchema: { type: 'object', properties: {} },
    run: () => memberLoans,
  },
];

/** Answers one message of an MCP client, each on its own; undefined where it wants no answer. */
export function answerMessage(message: unknown): JsonObject | undefined {
  if (!isJsonObject(message) || typeof message.method !== 'string')
    return { jsonrpc: '2.0', id: null, error: { code: badRequest, message: 'This is no request.' } };
  const { id, method, params } = message;
  if (id === undefined) return undefined;
  return { jsonrpc: '2.0', id, ...answerMethod(method, isJsonObject(params) ? params : {}) };
}

function answerMethod(method: string, params: JsonObject): JsonObject {
  switch (method) {
    case 'initialize':
      return { result: { protocolVersion: toRevision(params), capabilities: { tools: {} }, serverInfo } };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: tools.map(({ run: _, ...shown }) => shown) } };
    case 'tools/call':
      return callTool(params);
    default:
      return { error: { code: noMethod, message: 'There is no such method.' } };
  }
}

function toRevision({ protocolVersion: asked }: JsonObject): unknown {
  return revisions.find((revision) => revision === asked) ?? newestRevision;
}

function callTool({ name, arguments: args }: JsonObject): JsonObject {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) return { error: { code: badParameters, message: 'There is no such tool.' } };
  return { result: { content: [{ type: 'text', text: tool.run(isJsonObject(args) ? args : {}) }] } };
}
