import { useGetName } from '../page/page.tsx';
import { useUsageStrings } from './usage-strings.ts';

/** ID of all applications of a user that were tried before their first save. */
export const unsavedId = /^applications\/[^/]+\/unsaved$/;

/** Returns a function like that of `useGetName`, which also names the test chats of unsaved applications. */
export function useGetUsageName(): (id: string) => string {
  const strings = useUsageStrings();
  const getName = useGetName();
  return (id) => getName(id, unsavedId.test(id) ? strings.unsavedApplications : undefined);
}
