import { describe, expect, it } from 'vitest';
import { help, readCommand } from './cli.ts';
import { administrationHelp } from './commands/administration/administration-flags.ts';
import { backupHelp, restoreHelp } from './commands/backup/backup-flags.ts';
import { importHelp } from './commands/import/import-flags.ts';
import { readSettings } from './settings.ts';

/** Minimal arguments of each command. */
const minimalCommands = {
  serve: ['serve'],
  addin: ['addin', '--upstream', 'http://x'],
  check: ['check', 'file'],
  import: ['import', 'dial', 'file'],
  'import-openapi': ['import-openapi', 'file'],
  backup: ['backup', '--to', 'folder'],
  restore: ['restore', '--from', 'folder'],
  apply: ['apply', '-f', 'file'],
  diff: ['diff', '-f', 'file'],
  export: ['export'],
} as const;
/** Includes `evaluate`, which is not minimal: its `--version` is an option with a value, the version of an application. */
const fullCommands = { ...minimalCommands, evaluate: ['evaluate', 'app'] };

/** Help of the commands that have their own. */
const ownHelp: Readonly<Record<string, string>> = {
  import: importHelp,
  backup: backupHelp,
  restore: restoreHelp,
  apply: administrationHelp,
  diff: administrationHelp,
  export: administrationHelp,
};

const valueless = ['help', 'version'];
const switches = ['allow-private', 'replace', 'dry-run', 'prune', 'yes'];
const flags = [...new Set([...help.matchAll(/--([a-z-]+)/g)].map(([, name = '']) => name))].filter(
  (name) => !valueless.includes(name),
);

describe('help', () => {
  it('is printed for --help by every command, and the version for --version', () => {
    for (const args of [...Object.values(minimalCommands), [], ['help']]) {
      const text = ownHelp[args[0] ?? ''] ?? help;
      expect(readCommand([...args, '--help'])).toEqual({ name: 'help', text });
      if (args[0] !== 'help') expect(readCommand([...args, '--version'])).toEqual({ name: 'version' });
    }
  });

  it('lists every command, and only options that a command accepts', () => {
    for (const name of Object.keys(fullCommands)) expect(help).toContain(`parley ${name} `);
    expect(flags.length).toBeGreaterThan(12);
    const withTls = Object.values(fullCommands).map((args) => [...args, '--tls-cert', 'x', '--tls-key', 'x']);
    for (const flag of flags) {
      const flagArgs = switches.includes(flag) ? [`--${flag}`] : [`--${flag}`, 'x'];
      const commands = [...Object.values(fullCommands), ...withTls].map((args) => readCommand([...args, ...flagArgs]));
      expect([flag, commands.some(({ name }) => name !== 'usage-error')]).toEqual([flag, true]);
    }
  });

  it('lists every environment variable that settings are read from', () => {
    const readNames: string[] = [];
    const environment = new Proxy<Record<string, string>>(
      {},
      {
        get: (_nothing, name) => {
          readNames.push(String(name));
          return undefined;
        },
      },
    );
    const noFlags = {
      config: undefined,
      host: undefined,
      port: undefined,
      data: undefined,
      tlsCert: undefined,
      tlsKey: undefined,
    };
    readSettings(noFlags, environment);
    expect(readNames.length).toBeGreaterThan(10);
    for (const name of readNames) expect(help).toContain(name);
  });
});

describe('readCommand', () => {
  it.each([
    [['serve', '--prot', '1'], "Unknown option '--prot', did you mean --port? See parley --help"],
    [['addin', '--upsteam', 'http://x'], "Unknown option '--upsteam', did you mean --upstream? See parley --help"],
    [['serve', '--colour'], "Unknown option '--colour'. See parley --help"],
    [['check', '-x'], "Unknown option '-x'. See parley --help"],
    [['check'], '"check" requires at least one FILE. See parley --help'],
    [['backup'], '"backup" requires --to FOLDER, the folder for the backup. See parley --help'],
    [['backup', '--too', 'x'], "Unknown option '--too', did you mean --to? See parley --help"],
    [['restore'], '"restore" requires --from FOLDER, the folder of the backup. See parley --help'],
    [['restore', 'x'], '"restore" does not accept "x". Use --from FOLDER and --data DIR. See parley --help'],
    [['apply'], '"apply" requires -f FILE. See parley --help'],
    [['diff', 'file'], '"diff" requires -f FILE. See parley --help'],
    [['diff', '-f', 'x', '--dry-run'], "Unknown option '--dry-run'. See parley --help"],
    [['apply', '-f', 'x', '--pruned'], "Unknown option '--pruned', did you mean --prune? See parley --help"],
    [['apply', '-f', 'x', '--output', 'xml'], '--output must be text or json. See parley --help'],
    [['export', '--url', 'parley:8080'], '--url must be a URL, such as http://127.0.0.1:8080. See parley --help'],
    [['export', '--secrets', 'all'], '--secrets must be env or hidden. See parley --help'],
    [['export', 'file'], '"export" does not accept "file". It prints to stdout. See parley --help'],
    [
      ['export', '--key', 'x'],
      '--key is not supported, because other users can see the arguments. Use PARLEY_KEY or --key-file FILE. See parley --help',
    ],
    [['serve', '--port'], "Option '--port <value>' argument missing. See parley --help"],
    [['sevre'], 'unknown command "sevre". See parley --help'],
  ])('rejects %j with a message', (args, message) => {
    expect(readCommand(args)).toEqual({ name: 'usage-error', message });
  });

  it('reads the files of apply in order, also after one -f', () => {
    const connection = { url: undefined, keyFile: undefined, isJson: false };
    expect(readCommand(['apply', '-f', 'a', 'b', '--prune', '--file=c', '--yes'])).toEqual({
      name: 'apply',
      flags: { ...connection, files: ['a', 'b', 'c'], isDryRun: false, isPruning: true, isConfirmed: true },
    });
    expect(readCommand(['diff', '-f', 'a', '--output', 'json', '--key-file', 'k', '--url', 'https://x/parley'])).toEqual({
      name: 'diff',
      flags: {
        ...{ url: 'https://x/parley', keyFile: 'k', isJson: true },
        ...{ files: ['a'], isDryRun: true, isPruning: false, isConfirmed: false },
      },
    });
    expect(readCommand(['export'])).toEqual({ name: 'export', flags: { ...connection, hasReferences: true } });
  });

  it('reports a negative port as a wrong port', () => {
    const command = readCommand(['--port', '-1']);
    if (command.name !== 'serve') throw new Error(`expected serve, not ${JSON.stringify(command)}`);
    expect(() => readSettings(command.flags, {})).toThrow('the port must be an integer from 0 to 65535, not "-1"');
  });

  it('reads the number of workers, and rejects numbers that are not supported', () => {
    const count = (args: readonly string[], environment = {}): number => {
      const command = readCommand(args);
      if (command.name !== 'serve') throw new Error(`expected serve, not ${JSON.stringify(command)}`);
      return readSettings(command.flags, environment).workers;
    };
    expect([count([]), count(['--workers', '3']), count([], { PARLEY_WORKERS: '2' })]).toEqual([1, 3, 2]);
    expect(count(['--workers', '3'], { PARLEY_WORKERS: '2' })).toBe(3);
    expect(count(['--workers', 'auto'])).toBeGreaterThanOrEqual(1);
    for (const text of ['0', '-1', '1.5', '65', '1e1', 'many', ''])
      expect(() => count(['--workers', text])).toThrow(
        `--workers or PARLEY_WORKERS must be auto or an integer from 1 to 64, not "${text}"`,
      );
  });
});

describe('readSettings', () => {
  const noFlags = { config: undefined, host: undefined, port: undefined, data: undefined, tlsCert: undefined, tlsKey: undefined };
  const address = 'postgres://parley:canary@host/parley';

  it.each([
    [{ PARLEY_DATABASE_POOL: '0' }, 'PARLEY_DATABASE_POOL must be an integer from 1 to 1000, not "0"'],
    [{ PARLEY_DATABASE_POOL: 'ten' }, 'PARLEY_DATABASE_POOL must be an integer from 1 to 1000, not "ten"'],
    [{ PARLEY_DATABASE_REPLICA_URL: address }, 'PARLEY_DATABASE_URL must also be set'],
    [
      { PARLEY_DATABASE_URL: address, PARLEY_DATABASE_REPLICA_URL: 'canary' },
      'PARLEY_DATABASE_REPLICA_URL must be a URL that starts with postgres://',
    ],
  ])('rejects %o', (environment, message) => {
    expect(() => readSettings(noFlags, environment)).toThrow(message);
  });
});
