import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Name of the file in a build with the stamp of its sources. bin/parley reads it. */
const stampName = '.stamp';

/** A build output folder with the stamp of its sources. */
export interface StampedBuild {
  /** Name in messages: "The page". */
  readonly title: string;
  readonly out: string;
  /** Identifies the current sources. */
  readonly stamp: string;
  /** Builds into an empty folder. */
  readonly build: (folder: string) => Promise<void>;
}

function readStamp({ out }: StampedBuild): string | undefined {
  const file = join(out, stampName);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Replaces a folder with two renames. Several processes can do this concurrently. */
function replaceFolder(folder: string, out: string): void {
  const previous = `${folder}-replaced`;
  for (let isReplaced = false; !isReplaced; ) {
    tryRename(out, previous, ['ENOENT']);
    isReplaced = tryRename(folder, out, ['ENOTEMPTY', 'EEXIST']);
    rmSync(previous, { recursive: true, force: true });
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
async function buildAtomically(plan: StampedBuild): Promise<void> {
  const { out, stamp, build } = plan;
  const temporaryFolder = join(dirname(out), `.${basename(out)}-${process.pid}`);
  try {
    await build(temporaryFolder);
    writeFileSync(join(temporaryFolder, stampName), stamp);
    replaceFolder(temporaryFolder, out);
  } catch (error) {
    if (readStamp(plan) !== stamp) throw error;
  } finally {
    rmSync(temporaryFolder, { recursive: true, force: true });
  }
}

const isMissingModule = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';

/**
 * Runs a build. With the flag `--when-needed`, builds only if a source has changed. `--at-start` does the same, but a failed
 * build does not set the exit code, because the service can run without the build.
 */
export async function runBuild(plan: StampedBuild, flag: string | undefined): Promise<void> {
  if (flag !== undefined && readStamp(plan) === plan.stamp) return;
  const { title, out } = plan;
  const startedMs = performance.now();
  try {
    await buildAtomically(plan);
    console.log(`${title} is built: ${out}, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  } catch (error) {
    const areToolsMissing = flag === '--at-start' && isMissingModule(error);
    if (areToolsMissing)
      console.error(`${title} is not built, because the build tools are not installed. To build, run: npm ci && npm run build`);
    else console.error(`${title} could not be built.`, error);
    if (flag !== '--at-start') process.exitCode = 1;
  }
}
