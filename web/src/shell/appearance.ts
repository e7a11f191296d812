import { useEffect, useState } from 'react';

export const appearances = ['system', 'light', 'dark'] as const;
export type Appearance = (typeof appearances)[number];

const storageKey = 'parley appearance';

export function useAppearance(): readonly [Appearance, (next: Appearance) => void] {
  const [appearance, setAppearance] = useState<Appearance>(getInitialAppearance);
  useEffect(() => {
    document.documentElement.dataset.appearance = appearance;
    localStorage.setItem(storageKey, appearance);
  }, [appearance]);
  return [appearance, setAppearance];
}

function getInitialAppearance(): Appearance {
  return appearances.find((option) => option === localStorage.getItem(storageKey)) ?? 'system';
}
