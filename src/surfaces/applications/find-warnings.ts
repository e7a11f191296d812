import { toSentence } from '#base/text/sentence.ts';
import { listKnownRoles } from '#contract/configuration/checks/find-configuration-warnings.ts';
import type { ApplicationEntry } from '#contract/configuration/deployments.ts';
import { didYouMean } from '#contract/configuration/did-you-mean.ts';
import { formatPath, type Issue } from '#contract/configuration/issue.ts';
import type { QuickAppForm } from '#contract/quick-app/form.ts';
import { looksUnreadable, unreadableDocument } from '#contract/quick-app/unreadable-document.ts';
import { mayUse } from '#domain/callers/access.ts';
import type { Caller } from '#domain/callers/caller.ts';
import type { ConfigSnapshot } from '#domain/deployments/config-snapshot.ts';
import { parseReference, toReference } from '#domain/files/resource-location.ts';
import type { McpToolsetSettings } from '#domain/quick-app/quick-app.ts';
import { toMcpToolset } from '#domain/quick-app/to-quick-app.ts';
import { ignoreStoreError } from '#domain/store-error.ts';
import { ToolError } from '#domain/tools/tool.ts';
import type { ApplicationDeps } from './application-access.ts';

/** Issue that probably breaks an application but does not prevent saving it. */
export interface SaveWarning {
  /** Path of the field, in the form of an error's `param`. */
  readonly path: string;
  readonly message: string;
}

/** Input of the checks, in addition to the saved application. */
export interface CheckContext extends Pick<ApplicationDeps, 'catalog' | 'files' | 'survey'> {
  readonly caller: Caller;
  readonly snapshot: ConfigSnapshot;
  /** Cancels the requests to MCP servers. */
  readonly signal: AbortSignal;
}

/** Maximum number of warnings, and maximum number of MCP servers to contact, for one application. */
const maxWarnings = 100;
const maxServers = 8;
const maxServerMs = 5000;
const maxNameLength = 100;

/**
 * Returns warnings about the references of a saved application: unknown deployments, roles, and MCP tools, and documents whose
 * type has no readable text. A server that does not answer within 5 seconds, or a store that fails, gives no warning.
 */
export async function findWarnings(entry: ApplicationEntry, context: CheckContext): Promise<readonly SaveWarning[]> {
  // An application with an endpoint defines the format of its properties, so these checks do not apply.
  const checkedEntry = entry.endpoint === undefined ? entry : { ...entry, applicationProperties: undefined };
  const warnings = await Promise.all(
    [findUnknownRoles, findUnknownDeployments, findUnreadableDocuments, findUnknownTools].map((findIssues) =>
      findIssues(checkedEntry, context).catch(ignoreStoreError),
    ),
  );
  return warnings
    .flatMap((issues) => issues ?? [])
    .slice(0, maxWarnings)
    .map((issue) => ({ path: formatPath(issue.path), message: toSentences(issue) }));
}

function toSentences({ path, message, hint }: Issue): string {
  const sentence = `${formatPath(path)} ${message}.`;
  return hint === undefined ? sentence : `${sentence} ${toSentence(hint)}`;
}

type Issues = readonly Issue[];

/** Fields of an application that contain references. */
type ReferencingFields = Pick<ApplicationEntry, 'dependencies' | 'endpoint' | 'userRoles'> & {
  readonly applicationProperties?: ApplicationEntry['applicationProperties'] | undefined;
};

async function findUnknownDeployments(entry: ReferencingFields, { caller, catalog, snapshot }: CheckContext): Promise<Issues> {
  const references = [
    ...listReferences(['dependencies'], entry.dependencies),
    ...listReferences(['applicationProperties', 'applications_as_tools'], entry.applicationProperties?.applications_as_tools),
  ];
  const issues = await Promise.all(
    references.slice(0, maxWarnings).map(async ({ path, value }) => {
      const deployment = await catalog.find(snapshot, value);
      return deployment !== undefined && mayUse(snapshot, caller, deployment) ? [] : [{ path, ...unknownDeployment }];
    }),
  );
  return issues.flat();
}

/**
 * Reports roles that only an identity provider could grant. Suggests only roles of the caller, because role names are not public.
 */
async function findUnknownRoles({ userRoles = [] }: ReferencingFields, { caller, snapshot }: CheckContext): Promise<Issues> {
  const knownRoles = listKnownRoles(snapshot.configuration);
  return listReferences(['userRoles'], userRoles)
    .filter(({ value }) => !knownRoles.has(value) && !caller.roles.includes(value))
    .map(({ path, value }) => ({
      path,
      message: `names ${JSON.stringify(value)}, a role that Parley does not know. Only an identity provider can grant it`,
      ...didYouMean(value, caller.roles),
    }));
}

/** Does not reveal whether a deployment exists that the caller cannot use. */
export const unknownDeployment = { message: 'names a deployment that does not exist or that you cannot use' };

async function findUnreadableDocuments(entry: ReferencingFields, { files }: CheckContext): Promise<Issues> {
  const references = listDocuments(entry);
  const locations = references.flatMap(({ value }) => parseReference(value) ?? []);
  if (locations.length === 0) return [];
  const stored = (await files?.findAll(locations)) ?? [];
  const types = new Map(stored.map((file) => [toReference(file), file.contentType]));
  return references.flatMap((reference) => {
    const location = parseReference(reference.value);
    const isUnreadable = location !== undefined && looksUnreadable(location.path, types.get(toReference(location)));
    return isUnreadable ? [{ path: reference.path, ...unreadableDocument }] : [];
  });
}

async function findUnknownTools({ applicationProperties }: ReferencingFields, { survey, signal }: CheckContext): Promise<Issues> {
  // The entry is validated, so its properties have the form of a quick app.
  const { mcp_toolset: toolsets = [] } = (applicationProperties ?? {}) as Partial<QuickAppForm>;
  const limitedToolsets = toolsets
    .map((toolset, index) => ({ settings: toMcpToolset(toolset), index }))
    .filter(({ settings }) => (settings.allowedTools ?? []).length > 0);
  const surveySignal = AbortSignal.any([signal, AbortSignal.timeout(maxServerMs)]);
  const issues = await Promise.all(
    limitedToolsets.slice(0, maxServers).map(async ({ settings, index }) => {
      const names = await listToolNames(settings, survey, surveySignal);
      if (names === undefined) return [];
      const path = ['applicationProperties', 'mcp_toolset', index, 'allowed_tools'];
      const unknown = listReferences(path, settings.allowedTools).filter(({ value }) => !names.has(value));
      return unknown.map(({ path: itemPath, value }) => ({
        path: itemPath,
        message: `names the tool ${value.slice(0, maxNameLength)}, which the MCP server ${settings.name} does not have`,
      }));
    }),
  );
  return issues.flat();
}

/** Returns the names of all tools of a server, or undefined if the complete list is not available. */
async function listToolNames(
  settings: McpToolsetSettings,
  survey: CheckContext['survey'],
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  try {
    const { tools, omitted, count } = await survey(settings, signal);
    return tools.length < count ? undefined : new Set([...tools.map(({ name }) => name), ...omitted]);
  } catch (error) {
    if (!(error instanceof ToolError || signal.aborted)) throw error;
    return undefined;
  }
}

function listReferences(path: Issue['path'], list: unknown): { path: Issue['path']; value: string }[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((value: unknown, index) => (typeof value === 'string' ? [{ path: [...path, index], value }] : []));
}

/**
 * Returns the documents of a quick app, with the paths of their fields. An application with an endpoint has no documents here.
 */
export function listDocuments({ endpoint, applicationProperties }: ReferencingFields): { path: Issue['path']; value: string }[] {
  if (endpoint !== undefined) return [];
  const documentUrl = applicationProperties?.document_relative_url;
  const path = ['applicationProperties', 'document_relative_url'];
  return typeof documentUrl === 'string' ? [{ path, value: documentUrl }] : listReferences(path, documentUrl);
}
