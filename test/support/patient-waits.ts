import { type VitestUtils, vi } from 'vitest';

type Wait = VitestUtils['waitFor'];

/** On a busy machine, a process may not run for seconds. Waits with a shorter time limit fail by chance. */
const minWaitMs = 30_000;

interface PatientUtils {
  isPatient?: boolean;
}

// Raises the default time limit of `vi.waitFor` and `vi.waitUntil` from 1 s. Successful waits do not become slower.
const utils = vi as VitestUtils & PatientUtils;
if (utils.isPatient !== true) {
  utils.isPatient = true;
  utils.waitFor = toPatient(vi.waitFor);
  utils.waitUntil = toPatient(vi.waitUntil as Wait) as VitestUtils['waitUntil'];
}

function toPatient(wait: Wait): Wait {
  return (condition, options = {}) => {
    const normalized = typeof options === 'number' ? { timeout: options } : options;
    return wait(condition, { ...normalized, timeout: Math.max(normalized.timeout ?? 0, minWaitMs) });
  };
}
