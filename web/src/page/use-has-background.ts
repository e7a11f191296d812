import { useEffect, useState } from 'react';
import { isJsonObject } from '#base/json.ts';
import { usePage } from './page.tsx';

/** So long after the page is there, and nobody waits for it. */
const askAfterMs = 1_500;

/** Whether anything was answered in the background for the user: most people never meet it, and need no way there. */
export function useHasBackground(): boolean {
  const { service, place } = usePage();
  const [isSome, setIsSome] = useState(false);
  useEffect(() => {
    const leaving = new AbortController();
    const ask = async (): Promise<void> => {
      const listed = await service.json('v1/user/responses?limit=1', { signal: leaving.signal });
      setIsSome(isJsonObject(listed) && Array.isArray(listed.data) && listed.data.length > 0);
    };
    const timer = setTimeout(() => void ask().catch(() => undefined), askAfterMs);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [service]);
  return isSome || place.at === 'background';
}
