import { type VitestUtils, vi } from 'vitest';

type Wait = VitestUtils['waitFor'];

/** On a busy machine, a process may not run for seconds. Waits with a shorter time limit fail by chance. */
const minWaitMs = 60_000;
/** Ends a test that hangs. A lower limit of a file would end tests that a busy machine slows down. */
const minTestMs = 180_000;

interface PatientUtils {
  isPatient?: boolean;
}

// Raises the time limits of `vi.waitFor`, `vi.waitUntil`, and `vi.setConfig`. Successful tests do not become slower.
const utils = vi as VitestUtils & PatientUtils;
if (utils.isPatient !== true) {
  utils.isPatient = true;
  utils.waitFor = toPatient(vi.waitFor);
  utils.waitUntil = toPatient(vi.waitUntil as Wait) as VitestUtils['waitUntil'];
  const { setConfig } = vi;
  utils.setConfig = ({ testTimeout = 0, hookTimeout = 0, ...config }) =>
    setConfig({ ...config, testTimeout: Math.max(testTimeout, minTestMs), hookTimeout: Math.max(hookTimeout, minTestMs) });
}

function toPatient(wait: Wait): Wait {
  return (condition, options = {}) => {
    const normalized = typeof options === 'number' ? { timeout: options } : options;
    return wait(condition, { ...normalized, timeout: Math.max(normalized.timeout ?? 0, minWaitMs) });
  };
}
