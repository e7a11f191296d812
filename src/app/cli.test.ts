import { describe, expect, it } from 'vitest';
import { help, readCommand } from './cli.ts';
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
} as const;
/** `evaluate --version` takes a value, the version of an application, so it is not in `least`. */
const fullCommands = { ...minimalCommands, evaluate: ['evaluate', 'app'] };

const valueless = ['help', 'version'];
const switches = ['allow-private', 'replace'];
const flags = [...new Set([...help.matchAll(/--([a-z-]+)/g)].map(([, name = '']) => name))].filter(
  (name) => !valueless.includes(name),
);

describe('help', () => {
  it('is printed for --help by every command, and the version for --version', () => {
    for (const args of [...Object.values(minimalCommands), [], ['help']]) {
      const command = ['import', 'backup', 'restore'].find((name) => name === args[0]);
      expect(readCommand([...args, '--help'])).toEqual({ name: command === undefined ? 'help' : `${command}-help` });
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
      expect([flag, commands.some(({ name }) => name !== 'mistake')]).toEqual([flag, true]);
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
    [['serve', '--port'], "Option '--port <value>' argument missing. See parley --help"],
    [['sevre'], 'unknown command "sevre". See parley --help'],
  ])('rejects %j with a message', (args, message) => {
    expect(readCommand(args)).toEqual({ name: 'mistake', message });
  });

  it('reports a negative port as a wrong port', () => {
    const command = readCommand(['--port', '-1']);
    if (command.name !== 'serve') throw new Error(`expected serve, not ${JSON.stringify(command)}`);
    expect(() => readSettings(command.flags, {})).toThrow('the port must be a whole number from 0 to 65535, not "-1"');
  });
});
