import { afterAll, beforeEach } from 'vitest';
import { jsonReply, type Received, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { calls, type Rig, says, startRig } from './support.ts';

export interface Operation {
  readonly method?: string;
  readonly path?: string;
  readonly properties?: object;
  readonly required?: readonly string[];
}

/** An API for all tests of a file, its tool `find`, and one call of that. */
export async function startApi() {
  const api = await startScriptedUpstream();
  beforeEach(() => api.script(jsonReply({ ok: true })));
  afterAll(() => api.close());
  return {
    api,
    operation: (of?: Operation) => operation(api, of),
    call: (app: object, args: unknown, configuration: Record<string, unknown> = {}) =>
      callOnce(api, app, { args, configuration }),
  };
}

/** The tool `find` of an API. */
function operation(
  api: ScriptedUpstream,
  { method = 'get', path = '/find', properties = {}, required = [] }: Operation = {},
): object {
  return {
    rest_api_method_info: { method_url: api.url + path, method_type: method },
    open_ai_tool: {
      type: 'function',
      function: { name: 'find', description: 'Finds.', parameters: { type: 'object', properties, required } },
    },
  };
}

export function toolset(tool: object, authorization: unknown = null): object {
  return { web_api_toolset: [{ type: 'rest-api', name: 'API', authorization, tools: [tool] }] };
}

export interface Called {
  readonly rig: Rig;
  readonly request: Received | undefined;
  readonly answered: Awaited<ReturnType<Rig['chat']>>;
}

/** Lets the model call the tool `find` once, and gives what the API was sent. The rig is closed by then; what its model was asked can still be read. */
async function callOnce(
  api: ScriptedUpstream,
  app: object,
  { args, configuration }: { args: unknown; configuration: Record<string, unknown> },
): Promise<Called> {
  const before = api.requests.length;
  const rig = await startRig({ app, replies: [calls(['find', args]), says('Done.')], configuration });
  try {
    const answered = await rig.chat('Find it.');
    return { rig, request: api.requests[before], answered };
  } finally {
    await rig[Symbol.asyncDispose]();
  }
}

/** A parameter that says where it goes. */
export const placed = (type: string, key?: string) => ({
  type: 'string',
  parameter_info: { type, ...(key !== undefined && { key }) },
});
