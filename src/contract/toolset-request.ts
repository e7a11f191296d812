import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { McpToolset } from './quick-app/mcp-toolset.ts';
import { requireShape } from './request-fault.ts';
import { cleaned } from './without-nulls.ts';

const application = Type.Optional(
  Type.String({
    description:
      'Id of an application of the caller, `applications/{bucket}/{path}`: its secrets stand for those that are `***` in a toolset of the same name.',
  }),
);

/** What a toolset is asked for before it is saved, as far as it can be read before the toolset itself. */
const AnyToolset = Type.Object({ toolset: Type.Object({}), application }, { additionalProperties: false });
export type ToolsetRequest = Static<typeof AnyToolset>;

/** Which tools a server has. */
export const ListToolsRequest = Type.Object(
  { toolset: Type.Object({ ...McpToolset.properties }, { description: 'An entry of `mcp_toolset`.' }), application },
  { additionalProperties: false },
);

const shape = Compile(AnyToolset);
const optional: ReadonlySet<string> = new Set(['application']);

/** Throws invalid_request. What is in the toolset is checked by `readToolset`. */
export function parseToolsetRequest(body: unknown): ToolsetRequest {
  return requireShape(shape, cleaned(body, optional));
}
