import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { LeanClient } from '#base/http/lean-client.ts';
import { isJsonObject } from '#base/json/json.ts';
import { guardClient, NetGuard } from '#base/net/net-guard.ts';
import { escapeReferences } from '#configuration/substitute.ts';
import type { RestToolset } from '#contract/quick-app/toolsets.ts';
import { ToolError } from '#domain/tools/tool.ts';
import { importOpenApi, type LoadOptions, OpenApiReader } from '#tools/openapi/load-openapi.ts';
import type { ImportedApi, OperationSelection } from '#tools/openapi/to-toolsets.ts';
import type { OpenapiImportFlags } from '../cli.ts';

interface ImportOutcome {
  /** 0 if there is at least one tool, 1 otherwise. */
  readonly exitCode: 0 | 1;
  /** Text for stdout: a list for `web_api_toolset` of a configuration. */
  readonly text: string;
  /** Lines for stderr. */
  readonly notes: readonly string[];
}

const anyNetwork = ['0.0.0.0/0', '::/0'];
const connectMs = 10_000;
const timeoutMs = 120_000;
/** Bounds of the parser. They are generous, because the command runs on the user's own machine. */
const bounds = { timeoutMs, maxMemoryMb: 2048 };

/** Returns the output and the exit code of `parley import-openapi FILE|URL`. */
export async function importOpenApiCommand(flags: OpenapiImportFlags): Promise<ImportOutcome> {
  try {
    const { toolsets, notes } = await readApi(flags);
    const text = JSON.stringify(toolsets.map(escapeToolset), null, 2);
    return { exitCode: toolsets.length > 0 ? 0 : 1, text, notes };
  } catch (error) {
    const isKnown = error instanceof ToolError || (error instanceof Error && 'syscall' in error);
    if (!isKnown) throw error;
    return { exitCode: 1, text: '[]', notes: [`${flags.document} cannot be imported: ${error.message}`] };
  }
}

async function readApi({ document, base, isPrivateAllowed, ...selection }: OpenapiImportFlags): Promise<ImportedApi> {
  const guard = new NetGuard(isPrivateAllowed ? anyNetwork : []);
  const http = guardClient(guard, (lookup) => new LeanClient({ lookup }));
  const options = { http, reader: new OpenApiReader(bounds), owner: 'command line', connectMs, timeoutMs };
  try {
    if (/^https?:\/\//i.test(document)) return await importFrom(document, selection, options);
    if (base !== undefined && !URL.canParse(base)) throw new ToolError('--base is not a valid URL');
    const url = base === undefined ? pathToFileURL(document) : new URL(base);
    return await importOpenApi({ text: await readFile(document, 'utf8'), url }, selection, options);
  } finally {
    http.close();
  }
}

async function importFrom(address: string, selection: OperationSelection, options: LoadOptions): Promise<ImportedApi> {
  if (!URL.canParse(address)) throw new ToolError('the URL is not valid');
  try {
    return await importOpenApi({ text: undefined, url: new URL(address) }, selection, options);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw new ToolError(
      `${error.message} (for a document at a private address, use --allow-private, or use a file with --base)`,
      error,
    );
  }
}

/**
 * Escapes `${` as `$${` for use in a configuration, except in the authorization, whose references are meant for the environment.
 */
function escapeToolset({ authorization, ...toolset }: RestToolset): unknown {
  const { type, name, tools } = escapeValue(toolset) as Omit<RestToolset, 'authorization'>;
  return { type, name, authorization, tools };
}

function escapeValue(value: unknown): unknown {
  if (typeof value === 'string') return escapeReferences(value);
  if (Array.isArray(value)) return value.map(escapeValue);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, escapeValue(member)]));
}
