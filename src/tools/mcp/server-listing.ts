import type { Client, Tool as ListedTool, Prompt } from '@modelcontextprotocol/client';
import type { ExpiringValue } from '#base/cache/expiring-cache.ts';
import { truncate } from '#base/text/truncate.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import type { OfferedTool, ToolsetSurvey } from '#domain/tools/tool.ts';
import { maxDescriptionChars } from './mcp-tool.ts';
import { isOmitted } from './normalize-replies.ts';
import { createServerError, getServerMessage, toServerError, UnresponsiveServerError } from './server-error.ts';
import type { ServerDeadline } from './server-fetch.ts';
import type { Session } from './session.ts';
import { toMaskedParameters } from './to-parameters.ts';

const promptsTtlMs = 300_000;
const maxPrompts = 20;
const maxStarterChars = 4000;
/** Maximum number of tools of one server. */
export const maxTools = 512;
const maxNameChars = 200;
/** Maximum number of characters of all schemas together. */
const maxSchemaChars = 2 * 1024 ** 2;
const defaultToolsTtlMs = 60_000;
const maxToolsTtlMs = 3_600_000;
/** Maximum number of characters of server instructions. They are truncated further for a model. */
const maxInstructionChars = 64_000;

/** Time limits in milliseconds: for connecting, and then for listing. */
interface ListingTimeouts {
  readonly connectMs: number;
  readonly listMs: number;
}

/**
 * Returns the server's prompts that can start a conversation as they are. Checks the first 20 prompts without required arguments,
 * in the server's order, and returns those that consist only of user text of at most 4,000 characters. Rejects with `ToolError`.
 */
export async function listStarters(
  settings: McpToolsetSettings,
  session: Session,
  { connectMs, listMs }: ListingTimeouts,
): Promise<ExpiringValue<readonly string[]>> {
  const timeout = AbortSignal.timeout(connectMs + listMs);
  try {
    const value = await session.use(timeout, async ({ client, mask }) => {
      if (client.getServerCapabilities()?.prompts === undefined) return [];
      const sendOptions = { signal: timeout, timeout: listMs };
      const { prompts } = await client.request({ method: 'prompts/list', params: {} }, sendOptions);
      const hasRequired = ({ arguments: args = [] }: Prompt): boolean => args.some(({ required }) => required === true);
      const usable = prompts.filter((prompt) => !hasRequired(prompt)).slice(0, maxPrompts);
      const texts = await Promise.all(usable.map((prompt) => toStarter(client, prompt, sendOptions)));
      return texts.flatMap((text) => (text === undefined ? [] : [mask(text)]));
    });
    return { value, ttlMs: promptsTtlMs };
  } catch (error) {
    if (timeout.aborted) throw createServerError(settings.name, formatListTimeout('prompts', connectMs + listMs), error);
    throw toServerError(settings.name, error);
  }
}

/** Returns the text of a prompt, or undefined if it is not a text or the server rejects the request. */
async function toStarter(client: Client, { name }: Prompt, sendOptions: object): Promise<string | undefined> {
  try {
    const { messages } = await client.getPrompt({ name }, sendOptions);
    const texts = messages.map(({ role, content }) => (role === 'user' && content.type === 'text' ? content.text : undefined));
    const text = texts.includes(undefined) ? '' : texts.join('\n\n').trim();
    return text === '' || text.length > maxStarterChars ? undefined : text;
  } catch (error) {
    if (getServerMessage(error) === undefined) throw error;
    return undefined;
  }
}

/** Returns the tools that can be called, sorted by name. */
export function sortCallable(listed: readonly ListedTool[]): ListedTool[] {
  return listed.filter((tool) => !isOmitted(tool)).toSorted((first, second) => (first.name < second.name ? -1 : 1));
}

/** Masks the texts of a tool. A tool that can be called keeps its exact name and schema. */
function maskTool(tool: ListedTool, mask: (text: string) => string): ListedTool {
  const { name, title, description } = tool;
  return {
    ...tool,
    ...(isOmitted(tool) && { name: mask(name) }),
    ...(title !== undefined && { title: mask(title) }),
    ...(description !== undefined && { description: mask(description) }),
  };
}

/** Describes a server's tools for users, sorted by name and within bounds. `mask` removes secrets from the schemas. */
export function toSurvey(listed: readonly ListedTool[], mask: (text: string) => string): ToolsetSurvey {
  const callable = sortCallable(listed);
  const omittedNames = listed.filter(isOmitted).map(({ name }) => name.slice(0, maxNameChars));
  let remainingChars = maxSchemaChars;
  const tools = callable.slice(0, maxTools).map(({ name, title, description, inputSchema, annotations }): OfferedTool => {
    const parameters = toMaskedParameters(inputSchema, mask);
    remainingChars -= JSON.stringify(parameters).length;
    return {
      name,
      title: truncate(title ?? '', maxNameChars),
      description: truncate(description ?? '', maxDescriptionChars),
      parameters: remainingChars < 0 ? undefined : parameters,
      isReadOnly: annotations?.readOnlyHint === true,
    };
  });
  return { tools, count: callable.length, omitted: omittedNames.slice(0, maxTools) };
}

/** Tools, instructions, and capabilities of a server. */
export interface ServerListing {
  /** Tools with masked credentials in their texts. */
  readonly tools: readonly ListedTool[];
  /** The server's own usage instructions with masked credentials, or an empty string. */
  readonly instructions: string;
  readonly hasResources: boolean;
}

/** Returns the problem for a timeout that includes the wait for credentials, so that the server may not be its only cause. */
function formatListTimeout(list: 'prompts' | 'tools', maxMs: number): string {
  return `did not connect and list its ${list} within ${maxMs / 1000} s, including the wait for credentials`;
}

/** Lists the tools of a server. Rejects with `ToolError`. */
export async function listServer(
  settings: McpToolsetSettings,
  session: Session,
  { connectMs, listMs }: ListingTimeouts,
): Promise<ExpiringValue<ServerListing>> {
  const timeout = AbortSignal.timeout(connectMs + listMs);
  let deadline: ServerDeadline | undefined;
  try {
    return await session.use(timeout, async (connection) => {
      const { client, mask } = connection;
      const { tools: toolCapability, resources } = client.getServerCapabilities() ?? {};
      const instructions = mask(client.getInstructions() ?? '')
        .trim()
        .slice(0, maxInstructionChars);
      const info = { instructions, hasResources: resources !== undefined };
      if (toolCapability === undefined) return { value: { ...info, tools: [] }, ttlMs: defaultToolsTtlMs };
      deadline = connection.startDeadline(listMs);
      const options = { signal: deadline.signal, timeout: connectMs + listMs, cacheMode: 'bypass' } as const;
      const { tools, ttlMs: serverTtlMs } = await client.listTools({}, options);
      const ttlMs = typeof serverTtlMs === 'number' ? Math.min(Math.max(serverTtlMs, 0), maxToolsTtlMs) : defaultToolsTtlMs;
      return { value: { ...info, tools: tools.map((tool) => maskTool(tool, mask)) }, ttlMs };
    });
  } catch (error) {
    if (deadline?.signal.aborted === true)
      throw new UnresponsiveServerError(settings.name, `did not list its tools within ${listMs / 1000} s`, error);
    if (timeout.aborted) throw createServerError(settings.name, formatListTimeout('tools', connectMs + listMs), error);
    throw toServerError(settings.name, error);
  } finally {
    deadline?.end();
  }
}
