import { readCommand } from '#app/cli.ts';

/** Parses the arguments of `parley`. */
export function parseArguments(args: readonly string[]): ReturnType<typeof readCommand> {
  return readCommand([...args]);
}
