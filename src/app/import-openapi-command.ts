import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { LeanClient } from '#base/http/lean-client.ts';
import { isJsonObject } from '#base/json/json.ts';
import { guardClient } from '#base/net/guarded-client.ts';
import { NetGuard } from '#base/net/net-guard.ts';
import type { RestToolset } from '#contract/quick-app/web-toolset.ts';
import { ToolFault } from '#domain/tools/tool.ts';
import { type DocumentSource, importOpenApi } from '#tools/openapi/load-openapi.ts';
import { OpenApiReader } from '#tools/openapi/openapi-reader.ts';
import type { Choice, ImportedApi } from '#tools/openapi/to-toolsets.ts';

/** Flags of `parley import-openapi`. */
export interface ImportFlags extends Choice {
  /** File or address. */
  readonly document: string;
  /** What servers in a file are relative to. */
  readonly base: string | undefined;
  /** Whether the document may come from private and local addresses. */
  readonly isPrivateAllowed: boolean;
}

interface ImportOutcome {
  /** 0 where there is a tool at least, else 1. */
  readonly exitCode: 0 | 1;
  /** For stdout: a list for `web_api_toolset` of a configuration. */
  readonly text: string;
  /** For stderr. */
  readonly notes: readonly string[];
}

const anyNetwork = ['0.0.0.0/0', '::/0'];
const connectMs = 10_000;
const timeoutMs = 120_000;
/** Whoever runs the command has the machine for it. */
const bounds = { timeoutMs, maxMemoryMb: 2048 };

/** What `parley import-openapi FILE|URL` prints and how it exits. */
export async function importOpenApiCommand({ document, base, isPrivateAllowed, ...choice }: ImportFlags): Promise<ImportOutcome> {
  try {
    const { toolsets, notes } = await read(document, base, { choice, guard: new NetGuard(isPrivateAllowed ? anyNetwork : []) });
    const text = JSON.stringify(toolsets.map(escaped), null, 2);
    return { exitCode: toolsets.length > 0 ? 0 : 1, text, notes };
  } catch (thrown) {
    const reason = thrown instanceof ToolFault || isFileFault(thrown) ? thrown.message : undefined;
    if (reason === undefined) throw thrown;
    return { exitCode: 1, text: '[]', notes: [`${document} cannot be imported: ${reason}`] };
  }
}

interface ReadOptions {
  readonly choice: Choice;
  readonly guard: NetGuard;
}

async function read(document: string, base: string | undefined, { choice, guard }: ReadOptions): Promise<ImportedApi> {
  const http = guardClient(guard, (lookup) => new LeanClient({ lookup }));
  const from = { http, reader: new OpenApiReader(bounds), owner: 'command line', connectMs, timeoutMs };
  try {
    if (/^https?:\/\//i.test(document)) return await importFrom(document, from, choice);
    if (base !== undefined && !URL.canParse(base)) throw new ToolFault('what --base names is no address');
    const url = base === undefined ? pathToFileURL(document) : new URL(base);
    return await importOpenApi({ text: await readFile(document, 'utf8'), url, from }, choice);
  } finally {
    http.close();
  }
}

async function importFrom(address: string, from: DocumentSource, choice: Choice): Promise<ImportedApi> {
  if (!URL.canParse(address)) throw new ToolFault('the address is not well formed');
  try {
    return await importOpenApi({ text: undefined, url: new URL(address), from }, choice);
  } catch (thrown) {
    if (!(thrown instanceof ToolFault)) throw thrown;
    throw new ToolFault(
      `${thrown.message} (give a document of a private address with --allow-private, or as a file with --base)`,
      thrown,
    );
  }
}

/** A configuration takes a plain `${` as `$${`; in the authorization it stands for what the environment has. */
function escaped({ authorization, ...toolset }: RestToolset): unknown {
  const { type, name, tools } = escapedValue(toolset) as Omit<RestToolset, 'authorization'>;
  return { type, name, authorization, tools };
}

function escapedValue(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${');
  if (Array.isArray(value)) return value.map(escapedValue);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, escapedValue(member)]));
}

function isFileFault(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'syscall' in thrown;
}
