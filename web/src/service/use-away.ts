import { useSyncExternalStore } from 'react';
import type { Service } from './service.ts';

/** Whether the service cannot be reached at the moment. */
export function useAway({ reach }: Service): boolean {
  return useSyncExternalStore(reach.subscribe, reach.isAway);
}
