import { useSyncExternalStore } from 'react';
import type { Service } from './service.ts';

/** Whether the service cannot be reached at the moment. */
export function useIsUnreachable({ reach }: Service): boolean {
  return useSyncExternalStore(reach.subscribe, reach.isUnreachable);
}
