import type { ParseArgsConfig, parseArgs } from 'node:util';

/** Options of a command, for `parseArgs`. */
export type Options = NonNullable<ParseArgsConfig['options']>;

/** Arguments of a command, as `parseArgs` returns them. */
export type Parsed<O extends Options> = ReturnType<typeof parseArgs<{ options: O; allowPositionals: true; tokens: true }>>;

/** Options that commands share. */
export const helpOptions = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } } as const;

/** URL of the service without `--url` and `PARLEY_URL`. */
export const defaultUrl = 'http://127.0.0.1:8080';
