import { useSyncExternalStore } from 'react';
import type { Service } from './service.ts';

/** Whether the service is currently unreachable. */
export function useIsUnreachable({ reachability }: Service): boolean {
  return useSyncExternalStore(reachability.subscribe, reachability.isUnreachable);
}
