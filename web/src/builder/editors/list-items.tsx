import { useState } from 'react';
import { IconButton, type IconName } from '../../parts/icon.tsx';
import { useBuilderStrings } from '../builder-strings.ts';

interface RemoveButtonProps {
  /** Name of the removed item. */
  readonly name: string;
  readonly icon?: IconName;
  readonly remove: () => void;
}

export function RemoveButton({ name, icon = 'trash', remove }: RemoveButtonProps) {
  const strings = useBuilderStrings();
  const label = strings.removeItem(name);
  return <IconButton icon={icon} label={label} onClick={remove} />;
}

/** Returns React keys that stay with list items while items are added and removed. */
export function useItemKeys(count: number): { readonly keys: readonly number[]; readonly removeKey: (index: number) => void } {
  const [{ keys, next }, setState] = useState(() => ({ keys: [...Array(count).keys()], next: count }));
  if (keys.length !== count) {
    const remainingKeys = keys.slice(0, count);
    const added = Array.from({ length: count - remainingKeys.length }, (_, index) => next + index);
    setState({ keys: [...remainingKeys, ...added], next: next + added.length });
  }
  const removeKey = (index: number): void => setState((old) => ({ ...old, keys: old.keys.filter((_, at) => at !== index) }));
  return { keys, removeKey };
}
