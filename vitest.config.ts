import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['test/support/servers.ts'],
    include: ['src/**/*.test.ts', 'web/src/**/*.test.ts', 'test/**/*.test.ts'],
    reporters: process.env.CI ? ['verbose'] : ['default'],
    testTimeout: 60_000,
    hookTimeout: 90_000,
    maxWorkers: 2,
    passWithNoTests: false,
    allowOnly: false,
  },
});
