import { isQuickAppSchemaId } from '#contract/quick-app/schema-id.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { ImportTools } from '../tools.ts';
import { commonFates, toCommon } from './common.ts';

const fates = {
  ...commonFates,
  overrideName: 'an application is told no name',
  function: 'Parley builds no applications out of code',
  routes: 'Parley has no routes',
  mcp: 'every deployment that chats is an MCP server, at /v1/deployments/{id}/mcp',
  invalid: null,
};

/** The entries of `applications`. */
export function importApplications(root: ForeignObject, tools: ImportTools): void {
  for (const [id, application] of root.named('applications')) {
    const kind = toKind(id, application, tools);
    if (kind === undefined) continue;
    const entry = tools.result.from(application.path, { ...kind, ...toCommon(application, 'applications', tools) });
    application.leave(fates, 'an application of DIAL');
    tools.result.put('applications', id, entry);
  }
}

/** What answers it: a program of its own, or Parley itself for a quick app. */
function toKind(id: string, application: ForeignObject, { notes, variables, result }: ImportTools) {
  const schemaId = application.text('applicationTypeSchemaId');
  const properties = application.value('applicationProperties');
  if (schemaId !== undefined && isQuickAppSchemaId(schemaId)) {
    const at = application.at('applicationProperties');
    const written = variables.value(properties ?? {}, at, id) as object;
    return { applicationTypeSchemaId: schemaId, applicationProperties: result.from(at, { ...written }) };
  }
  const endpoint = toEndpoint(id, application);
  if (endpoint !== undefined) return { endpoint: variables.address(endpoint, application.at('endpoint'), id) };
  const advice = schemaId === undefined ? undefined : 'give it the `endpoint` of the service that runs its type';
  notes.lose(application.path, 'is left out: it has no endpoint that Parley could call', advice);
  return undefined;
}

function toEndpoint(id: string, application: ForeignObject): string | undefined {
  const interfaces = application.object('interfaces');
  const base = interfaces?.object('openaiChatCompletions')?.text('baseUrl');
  interfaces?.leave({}, 'the interfaces of an application');
  const endpoint = application.text('endpoint');
  if (base === undefined) return endpoint === '' ? undefined : endpoint;
  return `${base.replace(/\/+$/, '')}/openai/deployments/${encodeURIComponent(id)}/chat/completions`;
}
