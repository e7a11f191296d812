import type { Environment } from '#configuration/substitute.ts';
import type { ServeFlags } from '../cli.ts';
import { workerCountVariable } from '../process/memory-shares.ts';
import { readSettings, SettingError, type Settings } from '../settings.ts';
import { connectToPrimary, failToStart, workerVariable } from './worker-context.ts';

/**
 * Runs a node until a signal stops it: this process is the complete node, its primary process, or one of its workers. If the node
 * cannot start, prints the reason to stderr and exits with 1.
 */
export async function serveCommand(flags: ServeFlags, environment: Environment): Promise<void> {
  try {
    const settings = readSettings(flags, environment);
    if (environment[workerVariable] !== undefined && process.send !== undefined)
      return await serveAsWorker(settings, environment);
    if (settings.workers > 1) {
      const { runPrimary } = await import('./primary.ts');
      return await runPrimary(settings, environment);
    }
    const { serve } = await import('../serve.ts');
    await serve(settings, environment);
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    console.error(`parley: ${error.message}`);
    // Resources that are already open, such as the file watch, would keep the process alive.
    process.exit(1);
  }
}

async function serveAsWorker(settings: Settings, environment: Environment): Promise<void> {
  const worker = await connectToPrimary();
  try {
    const { serve } = await import('../serve.ts');
    const { port, metricsPort } = worker;
    await serve({ ...settings, port, metricsPort, workers: Number(environment[workerCountVariable]) }, environment, worker);
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    failToStart(worker, error.message);
  }
}
