import { readCommand } from '#app/cli.ts';
import { type AdministrationDeps, administrationCommand } from '#app/commands/administration/administration-command.ts';

/** Parses the arguments of `parley`. */
export function parseArguments(args: readonly string[]): ReturnType<typeof readCommand> {
  return readCommand([...args]);
}

/** Runs `parley apply`, `diff`, or `export` in this process. Returns its exit code. */
export async function runAdministration(args: readonly string[], deps: AdministrationDeps): Promise<number> {
  const command = parseArguments(args);
  if (command.name === 'apply' || command.name === 'diff' || command.name === 'export')
    return administrationCommand(command, deps);
  throw new Error(JSON.stringify(command));
}
