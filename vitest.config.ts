import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['test/support/servers.ts'],
    include: ['src/**/*.test.ts', 'web/src/**/*.test.ts', 'test/**/*.test.ts'],
    reporters: process.env.CI ? ['verbose'] : ['default'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    passWithNoTests: false,
    allowOnly: false,
  },
});
