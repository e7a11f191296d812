import { useGetName, usePage } from '../page/page.tsx';
import { useUsageStrings } from './usage-strings.ts';

/** ID of all applications of a user that were tried before their first save. */
const unsavedId = /^applications\/[^/]+\/unsaved$/;

/** Returns a function like that of `useGetName`, which also names the test chats of unsaved applications. */
export function useGetUsageName(): (id: string) => string {
  const strings = useUsageStrings();
  const { deployments } = usePage();
  const getName = useGetName();
  return (id) =>
    unsavedId.test(id) && !deployments.some((deployment) => deployment.id === id) ? strings.unsavedApplications : getName(id);
}
