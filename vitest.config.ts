import { defineConfig } from 'vitest/config';
import { RunLog } from './test/support/run-log.ts';

const isCi = process.env.CI !== undefined;

export default defineConfig({
  test: {
    reporters: isCi ? ['verbose', new RunLog()] : ['default'],
    // Another load may slow a test down tenfold.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Messages contain the values, for example the violation in a list of one.
    chaiConfig: { truncateThreshold: 2_000 },
    // Three times the cores of the machine that checks: tests wait for a third to a half of their time, and files that test stores
    // and processes for most of it.
    maxWorkers: 6,
    // Files share their workers: to load the service for each file takes twice as long as most of the tests.
    // Node loads the sources itself where it can, which needs less time than Vite.
    isolate: false,
    passWithNoTests: false,
    allowOnly: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'source',
          include: ['src/**/*.test.ts'],
          setupFiles: ['test/support/patient-waits.ts'],
          experimental: { viteModuleRunner: false },
        },
      },
      {
        extends: true,
        test: {
          name: 'page',
          include: ['web/src/**/*.test.{ts,tsx}'],
          setupFiles: ['test/support/patient-waits.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'service',
          // A browser, four stores and programs of others on two busy cores: what fails there once is run again, and named at the end of the log.
          retry: isCi ? 1 : 0,
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/servers.ts'],
          setupFiles: ['test/support/patient-waits.ts', 'test/support/check-answers.ts', 'test/support/built-programs.ts'],
          experimental: { viteModuleRunner: false },
        },
      },
    ],
  },
});
