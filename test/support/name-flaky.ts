import type { Reporter, TestCase } from 'vitest/node';

/** Names at the end of the log the tests that passed only when they were run again, each with what failed at first. */
export class NameFlaky implements Reporter {
  readonly #flaky: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (!test.diagnostic()?.flaky) return;
    const faults = test.result().errors ?? [];
    this.#flaky.push(
      `${test.module.relativeModuleId} > ${test.fullName}`,
      ...faults.map(({ stack, message }) => String(stack ?? message)),
    );
  }

  onTestRunEnd(): void {
    if (this.#flaky.length === 0) return;
    process.stdout.write(`\nPassed only when run again; each is a fault to be found:\n${this.#flaky.join('\n')}\n`);
  }
}
