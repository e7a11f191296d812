import type { Clock } from '#base/time/clock.ts';
import type { Deployment } from '#domain/deployments/deployment.ts';
import type { DocumentsSettings, McpToolsetSettings, QuickApp, QuickAppToolset } from '#domain/quick-app/quick-app.ts';
import { type LoadedTools, type Tool, ToolError } from '#domain/tools/tool.ts';
import { createDeploymentTool, type SendToDeployment } from '#tools/deployment/deployment-tool.ts';
import { createRestTools, type RestSources } from '#tools/rest/create-rest-tools.ts';

/** Sources of the tools of toolsets. */
export interface ToolSources extends RestSources {
  /**
   * Loads the tools of an MCP server, and lists those that cannot be offered. Rejects with `ToolError` if the server is
   * unreachable.
   */
  readonly mcp: (settings: McpToolsetSettings, context: LoadContext) => Promise<LoadedTools>;
  /** Loads the tools that search stored files, and lists the missing files. */
  readonly documents: (settings: DocumentsSettings, context: LoadContext) => Promise<LoadedTools>;
}

/** The user and the application that tools are loaded for. */
export interface LoadContext {
  readonly signal: AbortSignal;
  /** User subject of the caller. */
  readonly subject: string;
  /** ID of the quick app. */
  readonly application: string;
  /** User subject of the application's owner, or null for a configured application. */
  readonly owner: string | null;
  /** Returns whether a stored file was shared with the caller. */
  readonly mayRead: (reference: string) => boolean;
}

/** The deployments that an app offers its model as tools. */
export interface DeploymentTools {
  readonly deployments: readonly Deployment[];
  readonly createSender: (deployment: Deployment) => SendToDeployment;
}

interface LoaderOptions {
  readonly sources: ToolSources;
  readonly context: LoadContext;
}

type LoadToolsOptions = LoaderOptions & { readonly clock: Clock };

/** Loads the tools that a quick app runs. A toolset that fails to load is listed as missing. */
export async function loadTools(
  app: QuickApp,
  { deployments, createSender }: DeploymentTools,
  options: LoadToolsOptions,
): Promise<LoadedTools> {
  const deploymentTools = deployments.map((deployment) => createDeploymentTool(deployment, createSender(deployment)));
  const loaded = await Promise.all(app.toolsets.map((toolset) => loadToolset(toolset, options)));
  return {
    tools: [...deploymentTools, ...loaded.flatMap(({ tools }) => tools)],
    missing: loaded.flatMap(({ missing }) => missing),
    instructions: loaded.flatMap(({ instructions = [] }) => instructions),
  };
}

/**
 * Loads the tools of one toolset for a trial run outside of an application. Rejects with `ToolError` if the toolset is
 * unavailable.
 */
export async function loadTrialTools(toolset: QuickAppToolset, options: LoaderOptions): Promise<readonly Tool[]> {
  const { tools, missing } = await runLoader(toolset, options);
  const [first] = missing;
  if (tools.length === 0 && first !== undefined) throw new ToolError(`${first.name}: ${first.reason}`);
  return tools;
}

async function loadToolset(toolset: QuickAppToolset, options: LoadToolsOptions): Promise<LoadedTools> {
  const { clock, context } = options;
  const startedMs = clock.nowMs();
  const loaded = await runLoader(toolset, options).catch((error: unknown): LoadedTools => {
    context.signal.throwIfAborted();
    if (!(error instanceof ToolError)) throw error;
    return { tools: [], missing: [{ name: getName(toolset), reason: error.message }] };
  });
  const tookMs = clock.nowMs() - startedMs;
  return { ...loaded, missing: loaded.missing.map((entry) => ({ ...entry, tookMs })) };
}

type Loader<Kind> = (
  toolset: Extract<QuickAppToolset, { kind: Kind }>,
  options: LoaderOptions,
) => LoadedTools | Promise<LoadedTools>;

const noTools: LoadedTools = { tools: [], missing: [] };

const loaders: { readonly [Kind in QuickAppToolset['kind']]: Loader<Kind> } = {
  rest: ({ tools, authorization }, { sources }) => ({ tools: createRestTools(tools, authorization, sources), missing: [] }),
  mcp: (toolset, { sources, context }) => sources.mcp(toolset, context),
  documents: (toolset, { sources, context }) => sources.documents(toolset, context),
  // `loadTools` adds the tools of deployments.
  deployment: () => noTools,
  // The client runs these tools.
  client: () => noTools,
};

async function runLoader(toolset: QuickAppToolset, options: LoaderOptions): Promise<LoadedTools> {
  return (loaders[toolset.kind] as Loader<QuickAppToolset['kind']>)(toolset, options);
}

function getName(toolset: QuickAppToolset): string {
  if (toolset.kind === 'documents') return 'Documents';
  return 'name' in toolset ? toolset.name : toolset.kind;
}
