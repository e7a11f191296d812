import { parseArgs } from 'node:util';
import { didYouMean } from '#contract/configuration/did-you-mean.ts';
import {
  type AdministrationCommand,
  administrationOptions,
  readAdministrationCommand,
} from './commands/administration/administration-flags.ts';
import {
  type BackupFlags,
  backupOptions,
  type RestoreFlags,
  readBackupFlags,
  readRestoreFlags,
  restoreOptions,
} from './commands/backup/backup-flags.ts';
import { type EvaluateFlags, readEvaluateFlags } from './commands/evaluate/evaluate-flags.ts';
import { type ImportFlags, readImportFlags } from './commands/import/import-flags.ts';
import type { ImportFlags as OpenapiFlags } from './commands/import-openapi-command.ts';

/** Parsed command line. */
export type Command =
  | { readonly name: 'serve'; readonly flags: ServeFlags }
  | { readonly name: 'addin'; readonly flags: AddinFlags }
  | { readonly name: 'check'; readonly files: readonly string[]; readonly allowsMissingEnvironment: boolean }
  | { readonly name: 'import'; readonly flags: ImportFlags }
  | { readonly name: 'import-openapi'; readonly flags: OpenapiFlags }
  | { readonly name: 'evaluate'; readonly flags: EvaluateFlags }
  | { readonly name: 'backup'; readonly flags: BackupFlags }
  | { readonly name: 'restore'; readonly flags: RestoreFlags }
  | AdministrationCommand
  | { readonly name: 'help' | 'version' | `${'evaluate' | 'import' | 'backup' | 'restore' | 'administration'}-help` }
  | { readonly name: 'mistake'; readonly message: string };

/** Flags of `serve`. Undefined if a flag is absent, so that the environment or a default applies. */
export interface ServeFlags {
  readonly config: readonly string[] | undefined;
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly data: string | undefined;
  readonly workers?: string | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
}

/** Flags of `addin`. Undefined if a flag is absent. */
export interface AddinFlags extends Pick<ServeFlags, 'host' | 'port' | 'tlsCert' | 'tlsKey'> {
  readonly upstream: string;
  readonly models: string | undefined;
  readonly allowedOrigins: readonly string[] | undefined;
  readonly trustedProxies: readonly string[] | undefined;
}

/** Output of `--help`. */
export const help = `Parley, a chat-completion gateway

Usage
  parley serve [options]     runs the service (default command)
  parley addin [options]     runs the gateway for browser add-ins, in front of a service
  parley check FILE… [--allow-missing-env]
                             checks configuration files and prints all errors. Exits with 1 if there are any.
                             With the flag, environment variables may be missing
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
                             copies the data of a node with SQLite, also while it runs. See parley backup --help
  parley restore --from FOLDER [--data DIR] [--replace]
                             puts a backup into a data folder. See parley restore --help

Options of serve
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

Options of import
  --settings FILE            static settings of DIAL                           (none)
  --strict                   exit with 1 if a part could not be imported

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
  PARLEY_DATABASE_POOL       connections to each of them                        (10)
  PARLEY_REDIS_URL           redis://… for limits and keys that nodes share    (this process)
  PARLEY_FILES_URL           s3://bucket/prefix?region=…&endpoint=…             (--data)
  PARLEY_SECRET              secrets for encryption at rest and signing, newest first, separated by commas.
                             Required with any of the three above              (created in --data)
  PARLEY_METRICS_PORT        separate port for /metrics
  PARLEY_DRAIN_MS            time for open calls to end after a signal         (30000)
  PARLEY_LAME_DUCK_MS        part of it in which new calls are accepted after a SIGTERM,
                             while /ready returns 503                          (2000)
  OTEL_EXPORTER_OTLP_ENDPOINT  endpoint for metrics and traces, over OTLP       (none)
  LOG_LEVEL                  fatal, error, warn, info, debug, trace or silent  (info)

Without a configuration, Parley serves a demo that needs no network and no API key. It adds the models
that it finds with OPENAI_API_KEY, with ANTHROPIC_API_KEY, and in a local Ollama.
`;

const serveOptions = {
  config: { type: 'string', multiple: true },
  host: { type: 'string' },
  port: { type: 'string' },
  data: { type: 'string' },
  workers: { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
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
  help: serveOptions.help,
  version: serveOptions.version,
} as const;

const helpOptions = { help: serveOptions.help, version: serveOptions.version } as const;

const checkOptions = { 'allow-missing-env': { type: 'boolean' }, ...helpOptions } as const;

const importOptions = {
  include: { type: 'string', multiple: true },
  exclude: { type: 'string', multiple: true },
  base: { type: 'string' },
  'allow-private': { type: 'boolean' },
  ...helpOptions,
} as const;

const optionsByCommand: Readonly<Record<string, object>> = {
  serve: serveOptions,
  addin: addinOptions,
  check: checkOptions,
  'import-openapi': importOptions,
  backup: backupOptions,
  restore: restoreOptions,
  ...administrationOptions,
};

/**
 * Parses the arguments after the program name. For invalid arguments, returns `mistake` with a message that names the argument
 * and the fix.
 */
export function readCommand(args: readonly string[]): Command {
  const [first = 'serve', ...rawArgs] = args[0]?.startsWith('-') ? ['serve', ...args] : args;
  const commandArgs = joinNegativeNumbers(rawArgs);
  try {
    if (first === 'help') return { name: 'help' };
    if (first === 'serve') return readServe(commandArgs);
    if (first === 'addin') return readAddin(commandArgs);
    if (first === 'check') return readCheck(commandArgs);
    if (first === 'import') return readImport(commandArgs);
    if (first === 'import-openapi') return readImportOpenapi(commandArgs);
    if (first === 'evaluate') return readEvaluate(commandArgs);
    if (first === 'apply' || first === 'diff' || first === 'export') return readAdministration(first, commandArgs);
    if (first === 'backup') return readBackup(commandArgs);
    if (first === 'restore') return readRestore(commandArgs);
    return mistake(`unknown command "${first}"`);
  } catch (error) {
    return mistake(error instanceof Error ? toSentence(error.message, optionsByCommand[first] ?? {}) : String(error));
  }
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

/** Returns a message of `parseArgs` without its hint for programmers. For an unknown option, adds the most similar option. */
function toSentence(message: string, options: object): string {
  const [sentence = message] = message.split('. To specify a positional argument', 1);
  const [, name] = /^Unknown option '--([\w-]{1,100})'/.exec(sentence) ?? [];
  const { hint } = name === undefined ? {} : didYouMean(name, Object.keys(options));
  return hint === undefined ? sentence : `${sentence}, ${hint.replace('mean ', 'mean --')}`;
}

function readServe(args: readonly string[]): Command {
  const { values, positionals } = parseArgs({ args: [...args], options: serveOptions, allowPositionals: true });
  if (values.help) return { name: 'help' };
  if (values.version) return { name: 'version' };
  if (positionals.length > 0)
    return mistake(`"serve" does not accept "${positionals[0]}". Specify a configuration with --config FILE`);
  if (hasHalfOfTls(values)) return mistake(halfOfTls);
  const { config, host, port, data, workers } = values;
  const tls = { tlsCert: values['tls-cert'], tlsKey: values['tls-key'] };
  return { name: 'serve', flags: { config, host, port, data, workers, ...tls } };
}

function readAddin(args: readonly string[]): Command {
  const { values, positionals } = parseArgs({ args: [...args], options: addinOptions, allowPositionals: true });
  if (values.help) return { name: 'help' };
  if (values.version) return { name: 'version' };
  if (positionals.length > 0)
    return mistake(`"addin" does not accept "${positionals[0]}". Specify the service with --upstream URL`);
  if (hasHalfOfTls(values)) return mistake(halfOfTls);
  const { upstream, models, host, port } = values;
  if (upstream === undefined) return mistake('"addin" requires --upstream URL, the base URL of the service');
  const lists = { allowedOrigins: values['allowed-origin'], trustedProxies: values['trusted-proxy'] };
  const flags = { upstream, models, host, port, tlsCert: values['tls-cert'], tlsKey: values['tls-key'], ...lists };
  return { name: 'addin', flags };
}

const halfOfTls = '--tls-cert and --tls-key must be used together';

function hasHalfOfTls(values: { 'tls-cert'?: string | undefined; 'tls-key'?: string | undefined }): boolean {
  return (values['tls-cert'] === undefined) !== (values['tls-key'] === undefined);
}

function readCheck(args: readonly string[]): Command {
  const { values, positionals } = parseArgs({ args: [...args], options: checkOptions, allowPositionals: true });
  if (values.help) return { name: 'help' };
  if (values.version) return { name: 'version' };
  return positionals.length === 0
    ? mistake('"check" requires at least one FILE')
    : { name: 'check', files: positionals, allowsMissingEnvironment: values['allow-missing-env'] === true };
}

function readImport(args: readonly string[]): Command {
  const flags = readImportFlags(args);
  if (flags === 'help') return { name: 'import-help' };
  if (flags === 'version') return { name: 'version' };
  return 'mistake' in flags ? mistake(flags.mistake) : { name: 'import', flags };
}

function readImportOpenapi(args: readonly string[]): Command {
  const { values, positionals } = parseArgs({ args: [...args], options: importOptions, allowPositionals: true });
  if (values.help) return { name: 'help' };
  if (values.version) return { name: 'version' };
  const [document, ...extraArgs] = positionals;
  if (document === undefined || extraArgs.length > 0) return mistake('"import-openapi" requires exactly one FILE or URL');
  const { include, exclude, base, 'allow-private': isPrivateAllowed = false } = values;
  const flags = { document, base, isPrivateAllowed, include: namesIn(include), exclude: namesIn(exclude) };
  return { name: 'import-openapi', flags };
}

function readBackup(args: readonly string[]): Command {
  const flags = readBackupFlags(args);
  if (flags === 'help') return { name: 'backup-help' };
  if (flags === 'version') return { name: 'version' };
  return 'mistake' in flags ? mistake(flags.mistake) : { name: 'backup', flags };
}

function readRestore(args: readonly string[]): Command {
  const flags = readRestoreFlags(args);
  if (flags === 'help') return { name: 'restore-help' };
  if (flags === 'version') return { name: 'version' };
  return 'mistake' in flags ? mistake(flags.mistake) : { name: 'restore', flags };
}

function readAdministration(name: AdministrationCommand['name'], args: readonly string[]): Command {
  const command = readAdministrationCommand(name, args);
  if (command === 'help') return { name: 'administration-help' };
  if (command === 'version') return { name: 'version' };
  return 'mistake' in command ? mistake(command.mistake) : command;
}

function readEvaluate(args: readonly string[]): Command {
  const flags = readEvaluateFlags(args);
  if (flags === 'help') return { name: 'evaluate-help' };
  return 'mistake' in flags ? mistake(flags.mistake) : { name: 'evaluate', flags };
}

function namesIn(lists: readonly string[] | undefined): readonly string[] | undefined {
  return lists?.flatMap((list) => list.split(',').map((name) => name.trim())).filter((name) => name !== '');
}

function mistake(message: string): Command {
  return { name: 'mistake', message: `${message}${message.endsWith('?') ? '' : '.'} See parley --help` };
}
