import type { Client, Tool as ListedTool, Prompt } from '@modelcontextprotocol/client';
import type { ExpiringValue } from '#base/cache/expiring-cache.ts';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import type { SurveyedTool, ToolsetSurvey } from '#domain/tools/tool.ts';
import { isLeftOut } from './loose-replies.ts';
import { longestDescription } from './mcp-tool.ts';
import type { ServerDeadline } from './server-deadlines.ts';
import { MuteServerFault, refusalOf, serverFault, toServerFault } from './server-fault.ts';
import type { Session } from './session.ts';
import { toParameters } from './to-parameters.ts';

const freshMs = 300_000;
const maxPrompts = 20;
const longestStarter = 4000;
/** As many as a model can be offered. */
const mostTools = 512;
const maxNameChars = 200;
/** Of all schemas together. */
const mostSchemaChars = 2 * 1024 ** 2;
/** Their values are words of JSON Schema or names, which a short secret may be by chance. */
const structural: ReadonlySet<string> = new Set(['type', 'required', 'format', '$ref']);
const listFreshMs = 60_000;
const longestFreshMs = 3_600_000;
/** In characters; whoever tells a model of it shortens it further. */
const longestInstructions = 64_000;

/**
 * The prompts of a server that a conversation may begin with as they are: those that need no argument, and are a text of the
 * user alone, in the server's order, twenty at most. Rejects with ToolFault.
 */
export async function listStarters(
  settings: McpToolsetSettings,
  session: Session,
  { connectMs, listMs }: { readonly connectMs: number; readonly listMs: number },
): Promise<ExpiringValue<readonly string[]>> {
  const whole = AbortSignal.timeout(connectMs + listMs);
  try {
    const value = await session.use(whole, async ({ client, mask }) => {
      if (client.getServerCapabilities()?.prompts === undefined) return [];
      const sending = { signal: whole, timeout: listMs };
      const { prompts } = await client.request({ method: 'prompts/list', params: {} }, sending);
      const usable = prompts.filter(needsNothing).slice(0, maxPrompts);
      const texts = await Promise.all(usable.map((prompt) => toStarter(client, prompt, sending)));
      return texts.flatMap((text) => (text === undefined ? [] : [mask(text)]));
    });
    return { value, freshMs };
  } catch (thrown) {
    if (whole.aborted) throw serverFault(settings.name, `did not list its prompts within ${listMs / 1000} s`, thrown);
    throw toServerFault(settings.name, thrown);
  }
}

function needsNothing({ arguments: given = [] }: Prompt): boolean {
  return given.every(({ required }) => required !== true);
}

/** The text that it is; undefined if it is none, or the server refuses it. */
async function toStarter(client: Client, { name }: Prompt, sending: object): Promise<string | undefined> {
  try {
    const { messages } = await client.getPrompt({ name }, sending);
    const texts = messages.map(({ role, content }) => (role === 'user' && content.type === 'text' ? content.text : undefined));
    const text = texts.includes(undefined) ? '' : texts.join('\n\n').trim();
    return text === '' || text.length > longestStarter ? undefined : text;
  } catch (thrown) {
    if (refusalOf(thrown) === undefined) throw thrown;
    return undefined;
  }
}

/** What a server has, as people are told of it: by name, within bounds, `mask` taking out what nobody is shown. */
export function toSurvey(listed: readonly ListedTool[], mask: (text: string) => string): ToolsetSurvey {
  const callable = listed.filter((tool) => !isLeftOut(tool)).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const leftOut = listed.filter(isLeftOut).map(({ name }) => name.slice(0, maxNameChars));
  let room = mostSchemaChars;
  const tools = callable.slice(0, mostTools).map(({ name, title, description, inputSchema, annotations }): SurveyedTool => {
    const parameters = masked(toParameters(inputSchema), mask) as JsonObject;
    room -= JSON.stringify(parameters).length;
    return {
      name,
      title: mask(title ?? '').slice(0, maxNameChars),
      description: mask(description ?? '').slice(0, longestDescription),
      parameters: room < 0 ? undefined : parameters,
      isReadOnly: annotations?.readOnlyHint === true,
    };
  });
  return { tools, count: callable.length, leftOut: leftOut.slice(0, mostTools) };
}

function masked(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((each) => masked(each, mask));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, structural.has(key) ? member : masked(member, mask)]),
  );
}

/** What a server says that it has. */
export interface ServerListing {
  readonly tools: readonly ListedTool[];
  /** In the server's own words, how it is used; empty: it says nothing. Credentials are masked. */
  readonly instructions: string;
  readonly hasResources: boolean;
}

/** Milliseconds for connecting, and from then until all is listed. */
interface ListingTimes {
  readonly connectMs: number;
  readonly listMs: number;
}

/** Why a list is not there although the server did not keep Parley waiting for its full time. */
function notInTime(maxMs: number): string {
  return `could not be connected and list its tools within ${maxMs / 1000} s, the wait for its credentials included`;
}

/** Asks a server what it has. Rejects with ToolFault. */
export async function listServer(
  settings: McpToolsetSettings,
  session: Session,
  { connectMs, listMs }: ListingTimes,
): Promise<ExpiringValue<ServerListing>> {
  const whole = AbortSignal.timeout(connectMs + listMs);
  let deadline: ServerDeadline | undefined;
  try {
    return await session.use(whole, async (connection) => {
      const { client, mask } = connection;
      const { tools: hasTools, resources } = client.getServerCapabilities() ?? {};
      const instructions = mask(client.getInstructions()?.trim().slice(0, longestInstructions) ?? '');
      const told = { instructions, hasResources: resources !== undefined };
      if (hasTools === undefined) return { value: { ...told, tools: [] }, freshMs: listFreshMs };
      deadline = connection.startDeadline(listMs);
      const options = { signal: deadline.signal, timeout: connectMs + listMs, cacheMode: 'bypass' } as const;
      const { tools, ttlMs } = await client.listTools({}, options);
      const freshMs = typeof ttlMs === 'number' ? Math.min(Math.max(ttlMs, 0), longestFreshMs) : listFreshMs;
      return { value: { ...told, tools }, freshMs };
    });
  } catch (thrown) {
    if (deadline?.signal.aborted === true)
      throw new MuteServerFault(settings.name, `did not list its tools within ${listMs / 1000} s`, thrown);
    if (whole.aborted) throw serverFault(settings.name, notInTime(connectMs + listMs), thrown);
    throw toServerFault(settings.name, thrown);
  } finally {
    deadline?.end();
  }
}
