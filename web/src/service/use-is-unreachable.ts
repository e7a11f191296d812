import { useSyncExternalStore } from 'react';
import type { Service } from './service.ts';

/** Whether the service is currently unreachable. */
export function useIsUnreachable({ reach }: Service): boolean {
  return useSyncExternalStore(reach.subscribe, reach.isUnreachable);
}
