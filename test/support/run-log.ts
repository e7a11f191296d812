import type { Reporter, TestCase, TestModule } from 'vitest/node';

const maxSilenceMs = 5 * 60_000;
const slowFiles = 15;

/**
 * Reports the tests that passed only on a retry, each with its first error, and the slowest files at the end of the log.
 * Stops a run after five minutes without progress and names the running files. An import that never returns has no
 * time limit.
 */
export class RunLog implements Reporter {
  readonly #flaky: string[] = [];
  readonly #startedAt = new Map<string, number>();
  readonly #fileTimes: { file: string; ms: number }[] = [];
  #watchdog: NodeJS.Timeout | undefined;

  onTestRunStart(): void {
    this.#watchdog = setTimeout(() => {
      const running = [...this.#startedAt.keys()];
      process.stdout.write(`\nFAILED: no test ended within 5 minutes. Running: ${running.join(', ')}\n`);
      process.exit(1);
    }, maxSilenceMs);
  }

  onTestModuleQueued({ relativeModuleId }: TestModule): void {
    this.#startedAt.set(relativeModuleId, performance.now());
    this.#watchdog?.refresh();
  }

  onTestModuleEnd({ relativeModuleId }: TestModule): void {
    const startedAt = this.#startedAt.get(relativeModuleId) ?? performance.now();
    this.#fileTimes.push({ file: relativeModuleId, ms: performance.now() - startedAt });
    this.#startedAt.delete(relativeModuleId);
    this.#watchdog?.refresh();
  }

  onTestCaseResult(test: TestCase): void {
    this.#watchdog?.refresh();
    if (!test.diagnostic()?.flaky) return;
    const errors = test.result().errors ?? [];
    this.#flaky.push(
      `${test.module.relativeModuleId} > ${test.fullName}`,
      ...errors.map(({ stack, message }) => String(stack ?? message)),
    );
  }

  onTestRunEnd(): void {
    clearTimeout(this.#watchdog);
    const slowest = this.#fileTimes.sort((a, b) => b.ms - a.ms).slice(0, slowFiles);
    const rows = slowest.map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`);
    process.stdout.write(`\nSlowest files:\n${rows.join('\n')}\n`);
    if (this.#flaky.length > 0)
      process.stdout.write(`\nPassed only on a retry. Each is a defect to be found:\n${this.#flaky.join('\n')}\n`);
  }
}
