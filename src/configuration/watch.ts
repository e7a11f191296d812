import { hash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { Secret } from '#base/secrets/secret.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';
import type { Accepted, Refused } from './check.ts';
import type { ConfigurationError } from './configuration-error.ts';

/** Called at every change. */
export interface ConfigurationListener {
  /** What the files said before they were watched: if they differ by then, this is a change too. Absent: they were not read. */
  readonly readBefore?: Configuration | undefined;
  onLoaded(configuration: Configuration, warnings: readonly ConfigurationError[]): void;
  /** The configuration of the last `onLoaded` stays in force. `cause` is for the log: what was thrown, where something was, also by `onLoaded`. */
  onRefused(faults: readonly ConfigurationError[], cause?: unknown): void;
}

export interface ConfigurationWatch {
  /** Loads the files now, for SIGHUP: files that they refer to are not watched. */
  reload(): void;
  /** Ends the watch. After it resolves nothing is loaded or reported. */
  close(): Promise<void>;
}

const settleMs = 100;
const linksMs = 1000;

/**
 * Loads anew whenever one of the files changes, 100 ms after the last of several changes: written in place, replaced by another file, or reached through
 * a symbolic link that now leads elsewhere. Resolves once it watches.
 */
export async function watchConfiguration(
  files: readonly string[],
  load: () => Promise<Accepted | Refused>,
  listener: ConfigurationListener,
): Promise<ConfigurationWatch> {
  if (files.length === 0) return { reload: () => undefined, close: async () => undefined };
  const refuse = (message: string) => (cause: unknown) =>
    listener.onRefused([{ file: files.join(', '), path: '', message }], cause);
  /** What is in force; undefined after a change that was refused, of which the next good one is the end. */
  let currentDigest = listener.readBefore && computeDigest(listener.readBefore);
  const isReadBefore = currentDigest !== undefined;
  const report = (loaded: Accepted | Refused) => {
    const before = currentDigest;
    currentDigest = undefined;
    if ('faults' in loaded) return listener.onRefused(loaded.faults);
    const now = computeDigest(loaded.configuration);
    // One change may be several events, more than 100 ms apart where the machine is busy.
    if (now !== before) listener.onLoaded(loaded.configuration, loaded.warnings);
    currentDigest = now;
  };
  const reload = new Reload((signal) =>
    load()
      .then((loaded) => signal.aborted || report(loaded))
      .catch(refuse('cannot be put in force; the log says why')),
  );
  const { watch } = await import('chokidar');
  let realPaths = await findRealPaths(files);
  const watcher = watch([...files, ...realPaths], { ignoreInitial: true });
  watcher.on('all', () => reload.request());
  watcher.on('error', refuse('cannot be watched, so changes wait for a restart; the log says why'));
  await new Promise<void>((resolve) => watcher.on('ready', resolve));
  if (isReadBefore) reload.request();
  // No event tells that a link on the way to a file leads elsewhere while the old file stays.
  const links = setInterval(async () => {
    const before = realPaths;
    realPaths = await findRealPaths(files);
    if (watcher.closed || isDeepStrictEqual(realPaths, before)) return;
    watcher.add(realPaths);
    reload.request();
  }, linksMs).unref();
  return {
    reload: () => reload.request(),
    close: async () => {
      clearInterval(links);
      await Promise.all([reload.close(), watcher.close()]);
    },
  };
}

/** Of all of it: a secret that was changed is a change, though it is shown as any other. */
function computeDigest(configuration: Configuration): string {
  const text = JSON.stringify(configuration, function (this: Record<string, unknown>, key, value) {
    const original = this[key];
    return original instanceof Secret ? original.reveal() : value;
  });
  return hash('sha256', text);
}

function findRealPaths(files: readonly string[]): Promise<string[]> {
  return Promise.all(files.map((file) => realpath(file).catch(() => file)));
}

/** Runs one load at a time; what is asked for while one runs leads to another after it. */
class Reload {
  readonly #run: (signal: AbortSignal) => Promise<unknown>;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isRequested = false;

  constructor(run: (signal: AbortSignal) => Promise<unknown>) {
    this.#run = run;
  }

  request(): void {
    clearTimeout(this.#timer);
    if (!this.#closing.signal.aborted) this.#timer = setTimeout(() => this.#start(), settleMs);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #start(): void {
    this.#isRequested = true;
    this.#running ??= this.#runUntilIdle();
  }

  async #runUntilIdle(): Promise<void> {
    while (this.#isRequested && !this.#closing.signal.aborted) {
      this.#isRequested = false;
      await this.#run(this.#closing.signal);
    }
    this.#running = undefined;
  }
}
