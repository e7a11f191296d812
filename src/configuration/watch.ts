import { hash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type {
  ConfigurationError,
  RejectedConfiguration,
  ValidConfiguration,
} from '#contract/configuration/checked-configuration.ts';
import type { Configuration } from '#contract/configuration/configuration.ts';

/** Listener for changes of the configuration. */
export interface ConfigurationListener {
  /**
   * Configuration that was read before the watch started. A difference at the start counts as a change. If undefined, the files
   * were not read.
   */
  readonly initialConfiguration?: Configuration | undefined;
  /** Called with each new configuration. */
  onLoaded(loaded: ValidConfiguration): void;
  /**
   * Called when a change is rejected. The configuration of the last `onLoaded` stays in force. `cause` is the caught error, for
   * the log, including errors of `onLoaded`.
   */
  onRejected(errors: readonly ConfigurationError[], cause?: unknown): void;
}

export interface ConfigurationWatch {
  /** Reloads the files now, for SIGHUP, because files that the configuration refers to are not watched. */
  reload(): void;
  /** Ends the watch. After it resolves, no further load or report occurs. */
  close(): Promise<void>;
}

/** Time without further changes before a reload. */
const settleMs = 100;
/** Interval of the checks for links with new targets. */
const linkPollMs = 1000;

/**
 * Reloads whenever a file changes, 100 ms after the last of several changes. A change is a write, a replacement, or a symbolic
 * link with a new target. Resolves when the watch has started.
 */
export async function watchConfiguration(
  files: readonly string[],
  load: () => Promise<ValidConfiguration | RejectedConfiguration>,
  listener: ConfigurationListener,
): Promise<ConfigurationWatch> {
  if (files.length === 0) return { reload: () => undefined, close: async () => undefined };
  const reject = (message: string) => (cause: unknown) =>
    listener.onRejected([{ file: files.join(', '), path: '', message }], cause);
  // Undefined after a rejected change, so that the next valid configuration is always reported.
  let currentDigest = listener.initialConfiguration && computeDigest(listener.initialConfiguration);
  const wasRead = currentDigest !== undefined;
  const report = (loaded: ValidConfiguration | RejectedConfiguration) => {
    const before = currentDigest;
    currentDigest = undefined;
    if ('errors' in loaded) return listener.onRejected(loaded.errors);
    const digest = computeDigest(loaded.configuration);
    // One change can cause several events that are more than 100 ms apart on a busy machine.
    if (digest !== before) listener.onLoaded(loaded);
    currentDigest = digest;
  };
  const reload = new Reload((signal) =>
    load()
      .then((loaded) => signal.aborted || report(loaded))
      .catch(reject('cannot be applied. See the log for the reason')),
  );
  const { watch } = await import('chokidar');
  let realPaths = await findRealPaths(files);
  const watcher = watch([...files, ...realPaths], { ignoreInitial: true });
  watcher.on('all', () => reload.request());
  watcher.on('error', reject('cannot be watched, so changes require a restart. See the log for the reason'));
  await new Promise<void>((resolve) => watcher.on('ready', resolve));
  if (wasRead) reload.request();
  // No event occurs if a link in the path of a file gets a new target while the old file remains.
  const links = setInterval(async () => {
    const before = realPaths;
    realPaths = await findRealPaths(files);
    if (watcher.closed || isDeepStrictEqual(realPaths, before)) return;
    watcher.add(realPaths);
    reload.request();
  }, linkPollMs).unref();
  return {
    reload: () => reload.request(),
    close: async () => {
      clearInterval(links);
      await Promise.all([reload.close(), watcher.close()]);
    },
  };
}

function computeDigest(configuration: Configuration): string {
  return hash('sha256', JSON.stringify(configuration));
}

function findRealPaths(files: readonly string[]): Promise<string[]> {
  return Promise.all(files.map((file) => realpath(file).catch(() => file)));
}

/** Runs one load at a time. Requests during a load cause one more load after it. */
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
