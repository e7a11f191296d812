import { SettingError } from '../../settings.ts';

/** The backup or the restore is not possible. The message may be shown to the user. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
}

const terminalEveryMs = 200;
const logEveryMs = 10_000;
const clearLine = '\r\u001b[K';

/** Dependencies of `parley backup` and `parley restore`. */
export interface CopyDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether stderr is a terminal. */
  readonly isTerminal: boolean;
  readonly writeProgress: (text: string) => void;
  readonly show: (line: string) => void;
  readonly epochMs: () => number;
}

/** Progress on stderr: one line that changes in a terminal, and a line every 10 s elsewhere. */
export class Progress {
  readonly #deps: CopyDeps;
  #shownAtMs: number;

  constructor(deps: CopyDeps) {
    this.#deps = deps;
    this.#shownAtMs = deps.epochMs();
  }

  /** Writes a line for a step that may take long. */
  start(text: string): void {
    this.#deps.writeProgress(`${this.#deps.isTerminal ? clearLine : ''}${text}\n`);
    this.#shownAtMs = this.#deps.epochMs();
  }

  update(text: string): void {
    const { isTerminal, epochMs, writeProgress } = this.#deps;
    if (epochMs() - this.#shownAtMs < (isTerminal ? terminalEveryMs : logEveryMs)) return;
    this.#shownAtMs = epochMs();
    writeProgress(isTerminal ? `${clearLine}${text}` : `${text}\n`);
  }

  end(): void {
    if (this.#deps.isTerminal) this.#deps.writeProgress(clearLine);
  }
}

/**
 * Runs `parley backup` or `parley restore`, and writes errors to stderr. Returns the exit code: 1 if the copy failed, 2 if the
 * arguments, the settings, or a folder are invalid.
 */
export async function runCopy(
  deps: Pick<CopyDeps, 'isTerminal' | 'writeProgress'>,
  copy: () => Promise<void>,
): Promise<0 | 1 | 2> {
  try {
    await copy();
    return 0;
  } catch (error) {
    const isKnown = error instanceof SettingError || error instanceof CopyError || isSystemError(error);
    if (!isKnown) throw error;
    deps.writeProgress(`${deps.isTerminal ? clearLine : ''}parley: ${error.message}\n`);
    return error instanceof SettingError ? 2 : 1;
  }
}

/** Returns whether the error is from the file system or from SQLite. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && ('syscall' in error || 'errcode' in error);
}

/** Formats a count with its noun, such as "1 file" and "2 files". */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** Formats a number of bytes with a decimal unit, such as "1.2 MB". */
export function formatBytes(bytes: number): string {
  const exponent = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const value = bytes / 1000 ** exponent;
  return `${exponent === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[exponent]}`;
}
