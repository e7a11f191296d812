import { type JsonObject, toObject } from '#base/json/json.ts';
import { trimEnd } from '#base/text/truncate.ts';
import { isQuickAppSchemaId } from '#contract/quick-app/form.ts';
import type { ForeignObject } from '../foreign-object.ts';
import type { ImportContext } from '../result.ts';
import { deploymentDropReasons, toDeploymentFields } from './deployment-fields.ts';

const dropReasons = {
  ...deploymentDropReasons,
  overrideName: 'Parley sends no name to applications',
  function: 'Parley does not build applications from code',
  routes: 'Parley has no routes',
  mcp: 'every chat deployment is an MCP server, at /v1/deployments/{id}/mcp',
  invalid: null,
};

const addonDropReasons = {
  ...deploymentDropReasons,
  iconUrl: 'addons have no icon in Parley',
  displayVersion: 'addons have no version in Parley',
  features: 'addons have no features in Parley',
  defaults: 'addons have no defaults in Parley',
  forwardAuthToken: 'Parley never forwards the token of a user to addons',
  inputAttachmentTypes: 'addons accept no attachments',
  maxInputAttachments: 'addons accept no attachments',
};

/** Imports the entries of `applications`. */
export function importApplications(root: ForeignObject, context: ImportContext): void {
  const typeEndpoints = readTypeEndpoints(root);
  for (const [id, application] of root.namedObjects('applications')) {
    const responder = toResponderFields(id, application, { typeEndpoints, context });
    if (responder === undefined) continue;
    const entry = { ...responder, ...toDeploymentFields(application, 'applications', context) };
    application.reportUnread(dropReasons, 'an application of DIAL');
    context.result.put('applications', id, application.path, entry);
  }
}

/**
 * Returns the fields that determine the responder: the endpoint of the application, the endpoint of its type, or Parley itself
 * for a quick app.
 */
function toResponderFields(
  id: string,
  application: ForeignObject,
  { typeEndpoints, context }: { readonly typeEndpoints: TypeEndpoints; readonly context: ImportContext },
) {
  const { notes, variables, result } = context;
  const schemaId = application.text('applicationTypeSchemaId');
  const at = application.at('applicationProperties');
  const properties = application.value('applicationProperties');
  const isQuick = schemaId !== undefined && isQuickAppSchemaId(schemaId);
  const convertedProperties = variables.convertValue(toObject(properties), at, id) as JsonObject;
  const typeFields =
    schemaId === undefined
      ? {}
      : { applicationTypeSchemaId: schemaId, applicationProperties: result.withOrigin(at, convertedProperties) };
  if (isQuick) return typeFields;
  const endpoint = toEndpoint(id, application) ?? typeEndpoints.get(schemaId ?? '');
  if (endpoint !== undefined) return { endpoint: variables.convertUrl(endpoint, application.at('endpoint'), id), ...typeFields };
  const suggestion =
    schemaId === undefined ? application.suggestKey('endpoint') : 'set its `endpoint` to the service that runs its type';
  notes.addLoss(application.path, 'is left out: it has no endpoint that Parley can call', suggestion);
  return undefined;
}

/** Endpoints of application types, by the schema id of the type. */
type TypeEndpoints = ReadonlyMap<string, string>;

function readTypeEndpoints(root: ForeignObject): TypeEndpoints {
  const typeEndpoints = root.items('applicationTypeSchemas').flatMap((schema) => {
    const id = schema.text('$id');
    const endpoint = schema.text('dial:applicationTypeCompletionEndpoint');
    return id === undefined || endpoint === undefined ? [] : [[id, endpoint] as const];
  });
  return new Map(typeEndpoints);
}

function toEndpoint(id: string, application: ForeignObject): string | undefined {
  const interfaces = application.object('interfaces');
  const base = interfaces?.object('openaiChatCompletions')?.text('baseUrl');
  interfaces?.reportUnread({}, 'the interfaces of an application');
  const endpoint = application.text('endpoint');
  if (base === undefined) return endpoint === '' ? undefined : endpoint;
  return `${trimEnd(base, '/')}/openai/deployments/${encodeURIComponent(id)}/chat/completions`;
}

/** Imports the entries of `addons`. Addons for specific roles are left out, because addons are open to all users in Parley. */
export function importAddons(root: ForeignObject, { notes, variables, result }: ImportContext): void {
  for (const [name, addon] of root.namedObjects('addons')) {
    const endpoint = addon.text('endpoint');
    if (addon.value('userRoles') !== undefined) {
      notes.addLoss(addon.path, 'is left out: it is only for some roles, and addons are open to all users in Parley');
      continue;
    }
    if (endpoint === undefined) {
      notes.addLoss(addon.path, 'is left out: it has no endpoint', addon.suggestKey('endpoint'));
      continue;
    }
    const displayName = addon.text('displayName');
    const description = addon.text('description');
    const token = addon.text('token');
    addon.reportUnread(addonDropReasons, 'an addon of DIAL');
    const bearer = token && { type: 'bearer', token: variables.toReference(token, addon.at('token'), `${name}_token`) };
    const entry = {
      url: variables.convertUrl(endpoint, addon.at('endpoint'), name),
      ...(displayName && { displayName: variables.escapeText(displayName) }),
      ...(description !== undefined && { description: variables.escapeText(description) }),
      ...(bearer && { authorization: bearer }),
    };
    result.put('addons', name, addon.path, entry);
  }
}
