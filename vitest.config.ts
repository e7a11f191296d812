import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    reporters: process.env.CI ? ['verbose'] : ['default'],
    testTimeout: 60_000,
    hookTimeout: 90_000,
    maxWorkers: 2,
    passWithNoTests: false,
    allowOnly: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'source',
          include: ['src/**/*.test.ts', 'web/src/**/*.test.ts'],
          // Tests of pure functions share their workers: starting one for each file takes longer than what it runs.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'service',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/servers.ts'],
          setupFiles: ['test/support/check-answers.ts'],
        },
      },
    ],
  },
});
