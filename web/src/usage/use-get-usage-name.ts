import { useGetName } from '../shell/page.tsx';
import { useUsageStrings } from './usage-strings.ts';

/** Pattern of the ID that all unsaved applications of a user share. */
export const unsavedIdPattern = /^applications\/[^/]+\/unsaved$/;

/** Like `useGetName`, but also returns a name for the test chats of unsaved applications. */
export function useGetUsageName(): (id: string) => string {
  const strings = useUsageStrings();
  const getName = useGetName();
  return (id) => getName(id, unsavedIdPattern.test(id) ? strings.unsavedApplications : undefined);
}
