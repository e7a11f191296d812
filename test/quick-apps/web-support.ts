import { afterAll, beforeEach } from 'vitest';
import { jsonReply, type ReceivedRequest, type ScriptedUpstream, startScriptedUpstream } from '#test/scripted-upstream.ts';
import { calls, type Rig, says, startRig } from './support.ts';

export interface Operation {
  readonly method?: string;
  readonly path?: string;
  readonly properties?: object;
  readonly required?: readonly string[];
}

/** Starts an API for all tests of a file. Returns it with its tool `find` and a function that calls this tool once. */
export async function startApi() {
  const api = await startScriptedUpstream();
  beforeEach(() => api.script(jsonReply({ ok: true })));
  afterAll(() => api.close());
  return {
    api,
    operation: (options?: Operation) => operation(api, options),
    call: (app: object, args: unknown, configuration: Record<string, unknown> = {}) =>
      callOnce(api, app, { args, configuration }),
  };
}

/** Returns the tool `find` of an API. */
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

export interface CallResult {
  readonly rig: Rig;
  readonly request: ReceivedRequest | undefined;
  readonly response: Awaited<ReturnType<Rig['chat']>>;
}

/**
 * Makes the model call the tool `find` once, and returns the request to the API. The rig is closed afterward, but its
 * requests remain readable.
 */
async function callOnce(
  api: ScriptedUpstream,
  app: object,
  { args, configuration }: { args: unknown; configuration: Record<string, unknown> },
): Promise<CallResult> {
  const before = api.requests.length;
  const rig = await startRig({ app, replies: [calls(['find', args]), says('Done.')], configuration });
  try {
    const response = await rig.chat('Find it.');
    return { rig, request: api.requests[before], response };
  } finally {
    await rig[Symbol.asyncDispose]();
  }
}

/** Returns a parameter with its location in the request. */
export const createParameter = (type: string, key?: string) => ({
  type: 'string',
  parameter_info: { type, ...(key !== undefined && { key }) },
});
