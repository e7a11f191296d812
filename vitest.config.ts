import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    reporters: process.env.CI ? ['verbose'] : ['default'],
    testTimeout: 60_000,
    hookTimeout: 90_000,
    maxWorkers: 3,
    // Files share their workers: loading the service anew for each takes twice as long as what most of them test. Tests wait half of their time.
    isolate: false,
    passWithNoTests: false,
    allowOnly: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'source',
          include: ['src/**/*.test.ts', 'web/src/**/*.test.ts'],
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
