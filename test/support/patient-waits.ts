import { type VitestUtils, vi } from 'vitest';

type Wait = VitestUtils['waitFor'];

/** On a busy machine a process can be without a turn for seconds, so a wait that ends earlier than this fails by chance. */
const minWaitMs = 30_000;

interface PatientUtils {
  isPatient?: boolean;
}

// Raises the time limit of `vi.waitFor` and `vi.waitUntil`, which is 1 s by default. Nothing is slower where the condition comes.
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
