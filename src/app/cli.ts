import { parseArgs } from 'node:util';

/** What the command line asks for. */
export type Command =
  | { readonly name: 'serve'; readonly flags: ServeFlags }
  | { readonly name: 'check'; readonly files: readonly string[] }
  | { readonly name: 'help' | 'version' }
  | { readonly name: 'mistake'; readonly message: string };

/** Flags as they were given; undefined where the environment or a default decides. */
export interface ServeFlags {
  readonly config: readonly string[] | undefined;
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly data: string | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
}

/** Shown by `--help`. */
export const help = `Parley, a chat-completion gateway

Usage
  parley serve [options]     the service; the default command
  parley check FILE…         reads configuration and prints every fault; exits 1 on any

Options of serve
  --config FILE              configuration, JSON (comments allowed) or YAML; may be repeated, later files win
  --host HOST                address to listen on                              (127.0.0.1)
  --port PORT                port to listen on, 0 for any free one             (8080)
  --data DIR                 folder for what is kept                           (./.parley)
  --tls-cert FILE            certificate chain in PEM; with --tls-key: HTTPS, re-read when the files change
  --tls-key FILE             its private key in PEM

  --help, --version

Environment
  PARLEY_CONFIG              configuration files, separated by commas
  PARLEY_HOST, PARLEY_PORT, PARLEY_DATA
  PARLEY_METRICS_PORT        a port of its own for /metrics
  PARLEY_DRAIN_MS            how long a stop waits for open calls              (30000)
  LOG_LEVEL                  fatal, error, warn, info, debug, trace or silent  (info)

Without any configuration a demo is served that needs no network and no key of anyone's,
beside what is found: OPENAI_API_KEY, a local Ollama.
`;

const serveOptions = {
  config: { type: 'string', multiple: true },
  host: { type: 'string' },
  port: { type: 'string' },
  data: { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

/** Reads the arguments after the program's name. A mistake says what is wrong and where help is. */
export function readCommand(args: readonly string[]): Command {
  const [first = 'serve', ...rest] = args[0]?.startsWith('-') ? ['serve', ...args] : args;
  try {
    if (first === 'help') return { name: 'help' };
    if (first === 'serve') return readServe(rest);
    if (first === 'check') return readCheck(rest);
    return mistake(`there is no command "${first}"`);
  } catch (thrown) {
    return mistake(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function readServe(args: readonly string[]): Command {
  const { values, positionals } = parseArgs({ args: [...args], options: serveOptions, allowPositionals: true });
  if (values.help) return { name: 'help' };
  if (values.version) return { name: 'version' };
  if (positionals.length > 0) return mistake(`"serve" takes no "${positionals[0]}"; a configuration is given as --config FILE`);
  if ((values['tls-cert'] === undefined) !== (values['tls-key'] === undefined))
    return mistake('--tls-cert and --tls-key go together');
  const { config, host, port, data } = values;
  return { name: 'serve', flags: { config, host, port, data, tlsCert: values['tls-cert'], tlsKey: values['tls-key'] } };
}

function readCheck(args: readonly string[]): Command {
  const { values, positionals } = parseArgs({ args: [...args], options: { help: serveOptions.help }, allowPositionals: true });
  if (values.help) return { name: 'help' };
  return positionals.length === 0 ? mistake('"check" needs at least one FILE') : { name: 'check', files: positionals };
}

function mistake(message: string): Command {
  return { name: 'mistake', message: `${message}. See parley --help` };
}
