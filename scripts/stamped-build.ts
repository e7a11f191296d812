import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A build output folder with the stamp of its sources. */
export interface StampedBuild {
  /** Name in messages: "The page". */
  readonly title: string;
  readonly out: string;
  readonly stampFile: string;
  /** Identifies the current sources. */
  readonly stamp: string;
  /** Builds into an empty folder. */
  readonly build: (folder: string) => Promise<void>;
}

function readStamp({ out, stampFile }: StampedBuild): string | undefined {
  const file = join(out, stampFile);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Replaces a folder atomically, while other processes may do the same. */
function putInPlace(folder: string, out: string): void {
  const replaced = `${folder}-replaced`;
  for (let isInPlace = false; !isInPlace; ) {
    tryRename(out, replaced, ['ENOENT']);
    isInPlace = tryRename(folder, out, ['ENOTEMPTY', 'EEXIST']);
    rmSync(replaced, { recursive: true, force: true });
  }
}

/** Returns false if renaming fails for one of these reasons. */
function tryRename(from: string, to: string, reasons: readonly string[]): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!reasons.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return false;
  }
}

/**
 * Builds into a temporary folder and renames it, because several processes may build concurrently and must never read
 * a partial build.
 */
async function buildAside(plan: StampedBuild): Promise<void> {
  const { out, stampFile, stamp, build } = plan;
  const aside = join(dirname(out), `.${basename(out)}-${process.pid}`);
  try {
    await build(aside);
    writeFileSync(join(aside, stampFile), stamp);
    putInPlace(aside, out);
  } catch (error) {
    if (readStamp(plan) !== stamp) throw error;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

const isMissingModule = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';

/**
 * Runs a build. With the flag `--when-needed`, builds only if a source has changed. `--at-start` does the same, and only logs a
 * failed build, because the service can run without it.
 */
export async function runBuild(plan: StampedBuild, flag: string | undefined): Promise<void> {
  if (flag !== undefined && readStamp(plan) === plan.stamp) return;
  const { title, out } = plan;
  const startedMs = performance.now();
  try {
    await buildAside(plan);
    console.log(`${title} is built: ${out}, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  } catch (error) {
    const areToolsMissing = flag === '--at-start' && isMissingModule(error);
    if (areToolsMissing)
      console.error(`${title} is not built, because the build tools are not installed. To build, run: npm ci && npm run build`);
    else console.error(`${title} could not be built.`, error);
    if (flag !== '--at-start') process.exitCode = 1;
  }
}
