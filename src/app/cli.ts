import { parseArgs } from 'node:util';
import { didYouMean } from '#contract/configuration/did-you-mean.ts';
import type { OperationSelection } from '#tools/openapi/to-toolsets.ts';
import {
  administrationHelp,
  applyOptions,
  diffOptions,
  exportOptions,
  readApplyFlags,
  readExportFlags,
} from './commands/administration/administration-flags.ts';
import {
  backupHelp,
  backupOptions,
  readBackupFlags,
  readRestoreFlags,
  restoreHelp,
  restoreOptions,
} from './commands/backup/backup-flags.ts';
import { helpOptions, type Options, type Parsed } from './commands/command-options.ts';
import { evaluateHelp, evaluateOptions, readEvaluateFlags } from './commands/evaluate/evaluate-flags.ts';
import { importHelp, importOptions, readImportFlags } from './commands/import/import-flags.ts';

/** Flags of `serve`. The field of an absent flag is undefined. The environment or a default then applies. */
export interface ServeFlags {
  readonly config: readonly string[] | undefined;
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly data: string | undefined;
  readonly workers?: string | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
}

/** Flags of `addin`. The field of an absent flag is undefined. */
export interface AddinFlags extends Pick<ServeFlags, 'host' | 'port' | 'tlsCert' | 'tlsKey'> {
  readonly upstream: string;
  readonly models: string | undefined;
  readonly allowedOrigins: readonly string[] | undefined;
  readonly trustedProxies: readonly string[] | undefined;
}

/** Flags of `import-openapi`. */
export interface OpenapiImportFlags extends OperationSelection {
  /** File path or URL. */
  readonly document: string;
  /** Base URL of relative servers in a file. */
  readonly base: string | undefined;
  /** Whether the document can be at a private or local address. */
  readonly isPrivateAllowed: boolean;
}

/** Output of `--help`. */
export const help = `Parley, a chat-completion gateway

Usage
  parley serve [options]     runs the service (default command)
  parley addin [options]     runs the gateway for browser add-ins, in front of a service
  parley check FILE… [--allow-missing-env]
                             checks configuration files and prints all errors. Exits with 1 if there are any.
                             With the flag, missing variables and secret files are warnings
  parley import dial FILE… | litellm FILE
                             converts a DIAL or LiteLLM configuration. See parley import --help
  parley import-openapi FILE|URL
                             converts an OpenAPI document into tools for web_api_toolset of a quick app
  parley evaluate APP [--cases FILE]
                             runs test cases against an application. Exits with 1 if a case fails.
                             See parley evaluate --help
  parley apply -f FILE… [--dry-run] [--prune [--yes]]
                             creates and updates models, keys, and other entries of a running service
  parley diff -f FILE…       prints the changes that apply would make. Exits with 1 if there is a difference
  parley export              prints the entries that were created at run time. See parley apply --help
  parley backup --to FOLDER [--data DIR]
                             copies the data of a node with SQLite, even while it runs. See parley backup --help
  parley restore --from FOLDER [--data DIR] [--replace]
                             restores a backup into a data folder. See parley restore --help

Options of serve. Defaults of options and variables are in parentheses
  --config FILE              configuration file, JSON (with comments) or YAML. Repeatable, later files win
  --host HOST                address to listen on                              (127.0.0.1)
  --port PORT                port to listen on, 0 selects a free port          (8080)
  --data DIR                 data folder                                       (./.parley)
  --workers N|auto           processes that serve, auto starts one per core       (1)
  --tls-cert FILE            certificate chain in PEM, enables HTTPS with --tls-key. Reloaded when it changes
  --tls-key FILE             private key in PEM

Options of addin, in addition to --host, --port, --tls-cert, and --tls-key as above
  --upstream URL             base URL of the service, without /msgapi. Required
  --models FILE              models to list: a JSON array of {"id": …, "display_name": …}       (none)
  --allowed-origin ORIGIN    origin whose pages may send requests, such as https://addin.example. Repeatable (any)
  --trusted-proxy NETWORK    trusted proxy, whose X-Forwarded-* headers count. Repeatable                    (none)

Options of import-openapi
  --include NAME,…           only these operations                             (all)
  --exclude NAME,…           all operations except these                       (none)
  --base URL                 base URL of relative servers in a FILE
  --allow-private            allow a URL at a private or local address

  --help, --version

Environment
  PARLEY_CONFIG              configuration files, separated by commas
  PARLEY_HOST, PARLEY_PORT, PARLEY_DATA, PARLEY_WORKERS
  PARLEY_DATABASE_URL        postgres://… database for consents, applications, and records (SQLite in --data)
  PARLEY_DATABASE_REPLICA_URL  postgres://… read replica for usage reports and lists of calls   (none)
  PARLEY_DATABASE_POOL       connections of each worker for queries to the database, and to its replica (10)
  PARLEY_REDIS_URL           redis://… for shared limits and per-request keys  (this process)
  PARLEY_FILES_URL           s3://bucket/prefix?region=…&endpoint=…             (--data)
  PARLEY_SECRET              secrets for encryption at rest and signing, newest first, separated by commas.
                             Required with PARLEY_DATABASE_URL, PARLEY_REDIS_URL, or PARLEY_FILES_URL (created in --data)
  PARLEY_METRICS_PORT        separate port for /metrics
  PARLEY_DRAIN_MS            time for open calls to end after a signal         (30000)
  PARLEY_LAME_DUCK_MS        part of PARLEY_DRAIN_MS after a SIGTERM in which new calls are
                             accepted, while /ready returns 503                (2000)
  OTEL_EXPORTER_OTLP_ENDPOINT  endpoint for metrics and traces, over OTLP       (none)
  LOG_LEVEL                  fatal, error, warn, info, debug, trace or silent  (info)

Without a configuration, Parley serves a demo that needs no network and no API key. The demo also has
the models that Parley finds with OPENAI_API_KEY, with ANTHROPIC_API_KEY, and in a local Ollama.
`;

const serveOptions = {
  config: { type: 'string', multiple: true },
  host: { type: 'string' },
  port: { type: 'string' },
  data: { type: 'string' },
  workers: { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  ...helpOptions,
} as const;

const addinOptions = {
  upstream: { type: 'string' },
  models: { type: 'string' },
  'allowed-origin': { type: 'string', multiple: true },
  'trusted-proxy': { type: 'string', multiple: true },
  host: serveOptions.host,
  port: serveOptions.port,
  'tls-cert': serveOptions['tls-cert'],
  'tls-key': serveOptions['tls-key'],
  ...helpOptions,
} as const;

const checkOptions = { 'allow-missing-env': { type: 'boolean' }, ...helpOptions } as const;

const openapiOptions = {
  include: { type: 'string', multiple: true },
  exclude: { type: 'string', multiple: true },
  base: { type: 'string' },
  'allow-private': { type: 'boolean' },
  ...helpOptions,
} as const;

/** Readers of the arguments of each command. */
const readers = {
  serve: createReader('serve', serveOptions, readServe),
  addin: createReader('addin', addinOptions, readAddin),
  check: createReader('check', checkOptions, readCheck),
  import: createReader('import', importOptions, readImportFlags, importHelp),
  'import-openapi': createReader('import-openapi', openapiOptions, readOpenapi),
  evaluate: createReader('evaluate', evaluateOptions, readEvaluateFlags, evaluateHelp),
  apply: createReader('apply', applyOptions, (parsed) => readApplyFlags('apply', parsed), administrationHelp),
  diff: createReader('diff', diffOptions, (parsed) => readApplyFlags('diff', parsed), administrationHelp),
  export: createReader('export', exportOptions, readExportFlags, administrationHelp),
  backup: createReader('backup', backupOptions, readBackupFlags, backupHelp),
  restore: createReader('restore', restoreOptions, readRestoreFlags, restoreHelp),
};

/** Parsed command line that runs no command. */
type Message =
  | { readonly name: 'help'; readonly text: string }
  | { readonly name: 'version' }
  | { readonly name: 'usage-error'; readonly message: string };

/** Parsed command line: the name of a command with its flags, or a message. */
type Command = ReturnType<(typeof readers)[keyof typeof readers]>;

function createReader<Name extends string, const O extends Options, Flags>(
  name: Name,
  options: O,
  readFlags: (parsed: Parsed<O>) => Flags,
  helpText = help,
) {
  return (args: string[]): { readonly name: Name; readonly flags: Flags } | Message => {
    try {
      const parsed = parseArgs({ args, options, allowPositionals: true, tokens: true });
      const { help: isHelp, version } = parsed.values as { help?: boolean; version?: boolean | string };
      if (isHelp) return { name: 'help', text: helpText };
      return version === true ? { name: 'version' } : { name, flags: readFlags(parsed) };
    } catch (error) {
      return toUsageError(error instanceof Error ? toUserMessage(error.message, options) : String(error));
    }
  };
}

/**
 * Parses the arguments after the program name. For invalid arguments, returns `usage-error` with a message that names the argument
 * and the fix.
 */
export function readCommand(args: readonly string[]): Command {
  const [first = 'serve', ...commandArgs] = args[0]?.startsWith('-') ? ['serve', ...args] : args;
  if (first === 'help') return { name: 'help', text: help };
  if (!Object.hasOwn(readers, first)) return toUsageError(`unknown command "${first}"`);
  return readers[first as keyof typeof readers](joinNegativeNumbers(commandArgs));
}

/**
 * Joins `--port -1` to `--port=-1`, so that the port check rejects the number. Otherwise Node parses `--port` as an option
 * without a value.
 */
function joinNegativeNumbers(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const last = joined.at(-1);
    if (/^-\d+$/.test(arg) && last?.startsWith('--') && !last.includes('=')) joined[joined.length - 1] = `${last}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

/** Returns a message of `parseArgs` without its hint for programmers. For an unknown option, adds the most similar option if there is one. */
function toUserMessage(message: string, options: object): string {
  const [sentence = message] = message.split('. To specify a positional argument', 1);
  const [, name] = /^Unknown option '--([\w-]{1,100})'/.exec(sentence) ?? [];
  const { hint } = name === undefined ? {} : didYouMean(name, Object.keys(options));
  return hint === undefined ? sentence : `${sentence}, ${hint.replace('mean ', 'mean --')}`;
}

function readServe({ values, positionals }: Parsed<typeof serveOptions>): ServeFlags {
  if (positionals.length > 0)
    throw new Error(`"serve" does not accept "${positionals[0]}". Specify a configuration with --config FILE`);
  const { config, host, port, data, workers } = values;
  return { config, host, port, data, workers, ...readTls(values) };
}

function readAddin({ values, positionals }: Parsed<typeof addinOptions>): AddinFlags {
  if (positionals.length > 0)
    throw new Error(`"addin" does not accept "${positionals[0]}". Specify the service with --upstream URL`);
  const tls = readTls(values);
  const { upstream, models, host, port } = values;
  if (upstream === undefined) throw new Error('"addin" requires --upstream URL, the base URL of the service');
  const lists = { allowedOrigins: values['allowed-origin'], trustedProxies: values['trusted-proxy'] };
  return { upstream, models, host, port, ...tls, ...lists };
}

function readTls(values: { 'tls-cert'?: string | undefined; 'tls-key'?: string | undefined }) {
  const { 'tls-cert': tlsCert, 'tls-key': tlsKey } = values;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) throw new Error('--tls-cert and --tls-key must be used together');
  return { tlsCert, tlsKey };
}

function readCheck({ values, positionals }: Parsed<typeof checkOptions>) {
  if (positionals.length === 0) throw new Error('"check" requires at least one FILE');
  return { files: positionals, allowsMissingEnvironment: values['allow-missing-env'] === true };
}

function readOpenapi({ values, positionals }: Parsed<typeof openapiOptions>): OpenapiImportFlags {
  const [document, ...extraArgs] = positionals;
  if (document === undefined || extraArgs.length > 0) throw new Error('"import-openapi" requires exactly one FILE or URL');
  const { include, exclude, base, 'allow-private': isPrivateAllowed = false } = values;
  return { document, base, isPrivateAllowed, include: splitNames(include), exclude: splitNames(exclude) };
}

function splitNames(lists: readonly string[] | undefined): readonly string[] | undefined {
  return lists?.flatMap((list) => list.split(',').map((name) => name.trim())).filter((name) => name !== '');
}

function toUsageError(message: string): Message {
  return { name: 'usage-error', message: `${message}${message.endsWith('?') ? '' : '.'} See parley --help` };
}
