import { useEffect, useState } from 'react';

export const appearances = ['system', 'light', 'dark'] as const;
export type Appearance = (typeof appearances)[number];

const keptAs = 'parley appearance';

/** Light, dark, or as the system has it. */
export function useAppearance(): readonly [Appearance, (next: Appearance) => void] {
  const [appearance, setAppearance] = useState<Appearance>(firstAppearance);
  useEffect(() => {
    document.documentElement.dataset.appearance = appearance;
    localStorage.setItem(keptAs, appearance);
  }, [appearance]);
  return [appearance, setAppearance];
}

function firstAppearance(): Appearance {
  return appearances.find((each) => each === localStorage.getItem(keptAs)) ?? 'system';
}
