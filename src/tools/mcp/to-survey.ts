import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '#base/json/json.ts';
import type { SurveyedTool, ToolsetSurvey } from '#domain/tools/toolset-survey.ts';
import { isLeftOut } from './loose-replies.ts';
import { longestDescription } from './mcp-tool.ts';
import { toParameters } from './to-parameters.ts';

/** As many as a model can be offered. */
const mostTools = 512;
const maxNameChars = 200;
/** Of all schemas together. */
const mostSchemaChars = 2 * 1024 ** 2;
/** Their values are words of JSON Schema or names, which a short secret may be by chance. */
const structural: ReadonlySet<string> = new Set(['type', 'required', 'format', '$ref']);

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
